// The group of a simulation by flows: messages are flows between mailboxes and carry their bytes.
#include <algorithm>

#include "isobar/comm/reducer.hpp"
#include "isobar/sim/flow_world.hpp"

namespace isobar::sim {
namespace {

namespace s4u = simgrid::s4u;
using Bytes = std::vector<std::byte>;

class Sent final : public comm::Transfer {
 public:
  explicit Sent(s4u::CommPtr flow) : flow_(std::move(flow)) {}
  bool finishes_within(double seconds) override {
    if (!flow_->test() && seconds > 0) s4u::this_actor::sleep_for(seconds);
    return flow_->test();
  }
  void finish() override { flow_->wait(); }

 private:
  s4u::CommPtr flow_;
};

class Received final : public comm::Transfer {
 public:
  Received(s4u::Mailbox* box, std::span<std::byte> into, double latency) : into_(into), latency_(latency) {
    flow_ = box->get_async<Bytes>(&bytes_);
  }
  bool finishes_within(double seconds) override {
    if (!flow_->test() && seconds > 0) s4u::this_actor::sleep_for(seconds);
    if (!flow_->test()) return false;
    finish();
    return true;
  }
  // The flow has no latency: what has arrived is seen that much later.
  void finish() override {
    if (!bytes_) flow_->wait();
    const double seen = flow_->get_finish_time() + latency_;
    s4u::this_actor::sleep_until(std::max(seen, s4u::Engine::get_clock()));
    const std::unique_ptr<Bytes> bytes(std::exchange(bytes_, nullptr));
    if (!bytes) return;
    expects(bytes->size() == into_.size(), "a message of the length that is received");
    std::ranges::copy(*bytes, into_.begin());
  }

 private:
  std::span<std::byte> into_;
  double latency_;
  Bytes* bytes_ = nullptr;
  s4u::CommPtr flow_;
};

class HeapMemory final : public comm::SharedMemory {
 public:
  HeapMemory(std::size_t ranks, std::size_t bytes) : each_((bytes + 63) / 64 * 64), all_(ranks * each_ + 64) {}
  std::span<std::byte> part(int rank) const override {
    const auto begin = reinterpret_cast<std::uintptr_t>(all_.data());
    const std::size_t skip = (64 - begin % 64) % 64;
    return {const_cast<std::byte*>(all_.data()) + skip + rank * each_, each_};
  }

 private:
  std::size_t each_;
  Bytes all_;
};

class FlowView final : public comm::WorldView {
 public:
  FlowView(FlowWorld& world, int rank) : world_(world), rank_(rank) {}

  bool abort(const std::string& message) override {
    if (world_.error) return false;
    world_.error = std::make_exception_ptr(comm::Aborted(fmt::format("[rank {}] {}", rank_, message)));
    s4u::Actor::kill_all();
    return true;
  }
  void check(std::uint32_t) const override {
    if (world_.error) std::rethrow_exception(world_.error);
  }
  void note(std::string) override {}
  std::vector<std::optional<std::string>> whereabouts(const std::vector<int>& ranks, double) override {
    return std::vector<std::optional<std::string>>(ranks.size());
  }
  double now() const override { return s4u::Engine::get_clock(); }

 private:
  FlowWorld& world_;
  int rank_;
};

class FlowComm final : public comm::Comm {
 public:
  FlowComm(FlowWorld& world, std::shared_ptr<comm::WorldView> view, int number, comm::Group group)
      : Comm(std::move(group), std::move(view)), world_(world), number_(number) {}

  std::unique_ptr<Comm> among(std::span<const int> ranks) override {
    comm::Group part = part_of(group(), ranks);
    const auto number = world_.groups.number(number_, part);
    return std::make_unique<FlowComm>(world_, view(), number, std::move(part));
  }
  std::shared_ptr<comm::SharedMemory> share(std::size_t bytes) override {
    Meeting& meeting = world_.meetings[{number_, meetings_++}];
    if (!meeting.all) {
      meeting.all = s4u::Barrier::create(size());
      meeting.memory = std::make_shared<HeapMemory>(members().size(), bytes);
    }
    meeting.all->wait();
    return meeting.memory;
  }
  std::unique_ptr<comm::Reducer> own_reducer(std::size_t floats, const comm::ReducerOptions& options) override {
    return flow_reducer(world_, members(), rank(), number_, floats, options);
  }

 private:
  comm::Ticket begin_send(int to, int tag, std::span<const std::byte> bytes) override {
    const std::uint64_t size = world_.options.without.bandwidth ? 0 : bytes.size();
    auto flow = mailbox(rank(), to, tag)->put_async(new Bytes(bytes.begin(), bytes.end()), size);
    return comm::Ticket(std::make_unique<Sent>(std::move(flow)));
  }
  comm::Ticket begin_receive(int from, int tag, std::span<std::byte> bytes) override {
    return comm::Ticket(std::make_unique<Received>(mailbox(from, rank(), tag), bytes,
                                                   world_.latency(in_world(from), in_world(rank()))));
  }
  s4u::Mailbox* mailbox(int from, int to, int tag) const {
    return s4u::Mailbox::by_name(fmt::format("c{}.{}:{}>{}", number_, tag, from, to));
  }

  FlowWorld& world_;
  int number_;
  int meetings_ = 0;
};

}  // namespace

std::unique_ptr<comm::Comm> flow_comm(FlowWorld& world, int rank) {
  comm::Group all{.rank = rank, .size = world.placement.ranks, .nodes = world.placement.nodes_of_ranks()};
  return std::make_unique<FlowComm>(world, std::make_shared<FlowView>(world, rank), 0, std::move(all));
}

}  // namespace isobar::sim
