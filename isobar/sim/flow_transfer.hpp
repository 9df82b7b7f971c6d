// FlowTransfer: one message on its way between two ranks of a simulation by flows, as one of them sees it.
#pragma once

#include <limits>

#include "isobar/sim/flow_world.hpp"

namespace isobar::sim {

class FlowTransfer final : public comm::Transfer {
 public:
  struct Ends {
    int from, to;    // in the world
    int mine;        // which of the two waits
    double latency;  // the flow has none: its end is seen that much later
  };

  /// Sends, by a flow that has begun.
  FlowTransfer(FlowWorld& world, simgrid::s4u::CommPtr flow, std::size_t bytes, const Ends& ends);
  /// Receives.
  FlowTransfer(FlowWorld& world, simgrid::s4u::Mailbox* box, std::span<std::byte> into, comm::Length kind,
               const Ends& ends);
  ~FlowTransfer() override;

  bool finishes_within(double seconds) override;
  void finish() override;
  std::size_t bytes() const override { return length_; }

  /// When its rank sees that it is finished; never, as long as that is not known.
  double seen_at() const {
    const double end = flow_->get_finish_time();
    return end < 0 ? never : end + ends_.latency;
  }
  /// What it is called when bells ring.
  const void* flow() const { return flow_->get_impl(); }

  /// When a message arrives, in the middle of SimGrid's own work.
  static void arrived(simgrid::kernel::activity::CommImpl* flow, void* content, std::size_t size);

  static constexpr double never = std::numeric_limits<double>::infinity(), simultaneous = 1e-10;

 private:
  bool seen_by(double deadline);
  void take();

  FlowWorld& world_;
  simgrid::s4u::CommPtr flow_;
  Ends ends_;
  std::size_t length_;
  bool taken_ = false;
  std::shared_ptr<FlowPacket*> arriving_{};  // of a receive
  std::span<std::byte> into_{};
  comm::Length kind_ = comm::Length::exact;
};

}  // namespace isobar::sim
