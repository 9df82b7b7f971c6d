// The group of a simulation by flows: messages are flows between mailboxes and carry their bytes, or none of what lies
// in phantom memory.
#include "isobar/comm/inbox.hpp"
#include "isobar/comm/reducer.hpp"
#include "isobar/sim/flow_transfer.hpp"

namespace isobar::sim {
namespace {

namespace s4u = simgrid::s4u;

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
  std::vector<std::byte> all_;
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
  bool watches_waits() const override { return false; }

 private:
  FlowWorld& world_;
  int rank_;
};

class FlowComm final : public comm::Comm {
 public:
  FlowComm(FlowWorld& world, std::shared_ptr<comm::WorldView> view, std::uint64_t number, comm::Group group)
      : Comm(std::move(group), std::move(view)), world_(world), number_(number) {}

  std::unique_ptr<Comm> among(std::span<const int> ranks) override {
    comm::Group part = part_of(group(), ranks);
    const std::uint64_t number = world_.groups.number(number_, part);
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
  std::unique_ptr<comm::GradientMemory> own_memory(std::size_t floats) override {
    if (world_.options.real_numbers) return std::make_unique<comm::GradientMemory>(floats);
    return std::make_unique<comm::GradientMemory>(world_.phantom(floats));
  }
  std::unique_ptr<comm::Reducer> own_reducer(comm::GradientMemory& memory,
                                             const comm::ReducerOptions& options) override {
    return flow_reducer(world_, members(), rank(), number_, memory.mine(), options);
  }

  std::unique_ptr<comm::Inbox> own_inbox() override { return flow_inbox(world_, in_world(rank())); }

 private:
  comm::Ticket begin_send(int to, int tag, std::span<const std::byte> bytes) override {
    const int self = in_world(rank()), peer = in_world(to);
    const Without& without = world_.options.without;
    const NetworkModel& network = world_.platform.network;
    if (!without.latency && network.message_overhead > 0) s4u::this_actor::sleep_for(network.message_overhead);
    if (!without.bandwidth) world_.cores[self].owe(bytes.size() * network.core_seconds_per_byte);
    auto packet = std::make_unique<FlowPacket>(bytes.size());
    if (!world_.is_phantom(bytes)) packet->contents.assign(bytes.begin(), bytes.end());
    if (world_.options.sent) world_.options.sent({.tag = tag, .from = self, .to = peer, .bytes = bytes.size()});
    packet->sender = &world_.bells[self];
    packet->receiver = &world_.bells[peer];
    const s4u::CommPtr flow = mailbox(rank(), to, tag)
                                  ->put_init(packet.release(), without.bandwidth ? 0 : bytes.size())
                                  ->set_copy_data_callback(FlowTransfer::arrived);
    flow->start();
    return comm::Ticket(
        std::make_unique<FlowTransfer>(world_, flow, bytes.size(), FlowTransfer::Ends{self, peer, self, 0}));
  }
  comm::Ticket begin_receive(int from, int tag, std::span<std::byte> bytes, comm::Length length) override {
    const int self = in_world(rank()), peer = in_world(from);
    return comm::Ticket(
        std::make_unique<FlowTransfer>(world_, mailbox(from, rank(), tag), bytes, length,
                                       FlowTransfer::Ends{peer, self, self, world_.latency(peer, self)}));
  }
  s4u::Mailbox* mailbox(int from, int to, int tag) const {
    return s4u::Mailbox::by_name(fmt::format("c{}.{}:{}>{}", number_, tag, from, to));
  }

  FlowWorld& world_;
  std::uint64_t number_;
  int meetings_ = 0;
};

}  // namespace

std::unique_ptr<comm::Comm> flow_comm(FlowWorld& world, int rank) {
  comm::Group all{.rank = rank, .size = world.placement.ranks, .nodes = world.placement.nodes_of_ranks()};
  return std::make_unique<FlowComm>(world, std::make_shared<FlowView>(world, rank), 0, std::move(all));
}

}  // namespace isobar::sim
