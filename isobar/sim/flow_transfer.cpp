#include "isobar/sim/flow_transfer.hpp"

namespace isobar::sim {

namespace s4u = simgrid::s4u;

FlowTransfer::FlowTransfer(FlowWorld& world, s4u::CommPtr flow, std::size_t bytes, const Ends& ends)
    : world_(world), flow_(std::move(flow)), ends_(ends), length_(bytes) {}

FlowTransfer::FlowTransfer(FlowWorld& world, s4u::Mailbox* box, std::span<std::byte> into, comm::Length kind,
                           const Ends& ends)
    : world_(world), ends_(ends), length_(into.size()), into_(into), kind_(kind) {
  arriving_ = std::make_shared<FlowPacket*>(nullptr);
  flow_ = box->get_init()
              ->set_dst_data(reinterpret_cast<void**>(arriving_.get()), sizeof(void*))
              ->set_copy_data_callback(arrived);
  flow_->start();
}

FlowTransfer::~FlowTransfer() {
  if (taken_) return;
  if (arriving_ && *arriving_) delete *arriving_;
  if (flow_->get_finish_time() >= 0) return;
  if (arriving_) world_.left_behind.push_back(arriving_);
  if (std::uncaught_exceptions() == 0) flow_->cancel();  // otherwise all actors are about to be ended
}

bool FlowTransfer::finishes_within(double seconds) {
  const double now = s4u::Engine::get_clock();
  if (seen_at() > now + simultaneous && (seconds <= 0 || !seen_by(now + seconds))) return false;
  take();
  return true;
}

void FlowTransfer::finish() {
  seen_by(never);
  take();
}

// Returns when it is finished as its rank sees it, or at this time; whether it is.
bool FlowTransfer::seen_by(double deadline) {
  const double begun = s4u::Engine::get_clock();
  for (;;) {
    const double seen = seen_at(), next = std::min(deadline, seen), now = s4u::Engine::get_clock();
    if (next <= now + simultaneous) {
      world_.cores[ends_.mine].wait(now - begun);
      return seen <= now + simultaneous;
    }
    if (seen == never) world_.bells[ends_.mine].wait(next == never ? -1 : next - now);
    else s4u::this_actor::sleep_until(next);
  }
}

void FlowTransfer::arrived(simgrid::kernel::activity::CommImpl* flow, void* content, std::size_t size) {
  s4u::Comm::copy_pointer_callback(flow, content, size);
  const auto* const packet = static_cast<const FlowPacket*>(content);
  packet->sender->ring(flow);
  packet->receiver->ring(flow);
}

void FlowTransfer::take() {
  if (std::exchange(taken_, true) || !arriving_) return;
  const std::unique_ptr<FlowPacket> packet(*arriving_);
  if (kind_ == comm::Length::exact ? packet->bytes != into_.size() : packet->bytes > into_.size())
    comm::throw_wrong_length(fmt::format("a message of {} bytes", packet->bytes), ends_.from, into_.size(), kind_,
                             ends_.to);
  length_ = packet->bytes;
  if (world_.is_phantom(into_)) return;
  expects(packet->contents.size() == packet->bytes, "numbers that are kept come from where they are kept");
  std::ranges::copy(packet->contents, into_.begin());
}

}  // namespace isobar::sim
