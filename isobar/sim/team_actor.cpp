#include "isobar/sim/team_actor.hpp"

#include "isobar/comm/inbox.hpp"
#include "isobar/comm/reducer.hpp"

namespace isobar::sim {
namespace {

namespace s4u = simgrid::s4u;

RankNodes nodes_of(const FlowWorld& world, int first) {
  const std::vector<int>& team = team_of(world.options.ranks[first]);
  expects(team.front() == first && in_one_row(team), "the first rank of a team, and the others behind it");
  return {static_cast<int>(team.size()), world.placement.ranks_per_node, first};
}

// The first rank talks when it is through with what it did before.
void reach(const Lockstep& team) { s4u::this_actor::sleep_until(team.first_now()); }

/// What the first rank sends to another of its team, which no actor receives.
class TeamTransfer final : public comm::Transfer {
 public:
  TeamTransfer(Lockstep& team, s4u::CommPtr flow, std::size_t bytes, double latency)
      : team_(team), flow_(std::move(flow)), bytes_(bytes), latency_(latency) {}
  ~TeamTransfer() override {
    if (flow_->get_finish_time() < 0 && std::uncaught_exceptions() == 0) flow_->cancel();
  }
  bool finishes_within(double) override {
    finish();
    return true;
  }
  void finish() override {
    flow_->wait();
    team_.has_arrived(s4u::Engine::get_clock() + latency_);
  }
  std::size_t bytes() const override { return bytes_; }

 private:
  Lockstep& team_;
  s4u::CommPtr flow_;
  std::size_t bytes_;
  double latency_;
};

class TeamView final : public comm::WorldView {
 public:
  TeamView(std::shared_ptr<comm::WorldView> flows, Lockstep& team) : flows_(std::move(flows)), team_(team) {}

  bool abort(const std::string& message) override { return flows_->abort(message); }
  void check(std::uint32_t epoch) const override { flows_->check(epoch); }
  void note(std::string) override {}
  std::vector<std::optional<std::string>> whereabouts(const std::vector<int>& ranks, double seconds) override {
    return flows_->whereabouts(ranks, seconds);
  }
  double now() const override { return team_.first_now(); }
  bool watches_waits() const override { return false; }

 private:
  std::shared_ptr<comm::WorldView> flows_;
  Lockstep& team_;
};

/// A group that the first rank of a team is in.
class TeamComm final : public comm::Comm {
 public:
  TeamComm(FlowWorld& world, Lockstep& team, std::unique_ptr<comm::Comm> flows, std::shared_ptr<comm::WorldView> view)
      : Comm(flows->group(), std::move(view)), world_(world), team_(team), flows_(std::move(flows)) {}

  std::unique_ptr<Comm> among(std::span<const int> ranks) override {
    std::vector<int> numbers;
    for (const int rank : ranks) numbers.push_back(in_world(rank));
    if (numbers == team_of(world_.options.ranks[in_world(rank())])) return team_.comm();
    return std::make_unique<TeamComm>(world_, team_, flows_->among(ranks), view());
  }
  std::shared_ptr<comm::SharedMemory> share(std::size_t) override { refuse("shared memory"); }
  std::unique_ptr<comm::GradientMemory> own_memory(std::size_t floats) override { return flows_->own_memory(floats); }
  std::unique_ptr<comm::Reducer> own_reducer(comm::GradientMemory&, const comm::ReducerOptions&) override {
    refuse("sums");
  }
  std::unique_ptr<comm::Inbox> own_inbox() override { return flow_inbox(world_, in_world(rank())); }

 private:
  comm::Ticket begin_send(int to, int tag, std::span<const std::byte> bytes) override {
    meet(to);
    return flows_->start_send(to, tag, bytes);
  }
  comm::Ticket begin_receive(int from, int tag, std::span<std::byte> bytes, comm::Length length) override {
    meet(from);
    return length == comm::Length::exact ? flows_->start_receive(from, tag, bytes)
                                         : flows_->start_receive_at_most(from, tag, bytes);
  }
  void meet(int peer) const {
    const parallel::Placement& placed = world_.options.ranks[in_world(peer)];
    if (placed.role == parallel::Roles::Role::trains && team_of(placed).front() != in_world(peer))
      refuse("messages to others than the first rank of a team");
    reach(team_);
  }
  [[noreturn]] static void refuse(const char* what) {
    fail_usage("a simulation with an actor for a team knows no {} between teams; simulate by flows", what);
  }

  FlowWorld& world_;
  Lockstep& team_;
  std::unique_ptr<comm::Comm> flows_;
};

}  // namespace

const std::vector<int>& team_of(const parallel::Placement& placed) {
  const auto found = std::ranges::find(placed.circles, "team", &comm::Circle::name);
  expects(found != placed.circles.end(), "a rank in a team");
  return found->ranks;
}

bool in_one_row(std::span<const int> team) {
  for (std::size_t i = 0; i < team.size(); ++i)
    if (team[i] != team[0] + static_cast<int>(i)) return false;
  return true;
}

TeamActor::TeamActor(FlowWorld& world, int first, const Noise& noise)
    : world_(world),
      placement_(nodes_of(world, first)),
      costs_(world.topology, world.platform, placement_),
      ranks_(lockstep(noise), costs_) {
  auto flows = flow_comm(world, first);
  auto view = std::make_shared<TeamView>(flows->view(), ranks_);
  comm_ = std::make_unique<TeamComm>(world, ranks_, std::move(flows), std::move(view));
}

LockstepRanks TeamActor::lockstep(const Noise& noise) {
  const FlowOptions& options = world_.options;
  const double per_byte = options.without.bandwidth ? 0 : world_.platform.network.core_seconds_per_byte;
  return {.placement = placement_,
          .ranks = options.ranks.subspan(placement_.first, placement_.ranks),
          .parts = options.parts,
          .noise = noise,
          .read_seconds = options.read_seconds,
          .core_seconds_per_byte = per_byte,
          .without = options.without,
          .others = this};
}

double TeamActor::now() const { return s4u::Engine::get_clock(); }

comm::Ticket TeamActor::send(int to, std::size_t bytes) {
  const Without& without = world_.options.without;
  const double overhead = without.latency ? 0 : world_.platform.network.message_overhead;
  s4u::this_actor::sleep_until(ranks_.first_now() + overhead);
  const auto host = [&](int rank) { return world_.topology.host(placement_.node_of(rank)); };
  const s4u::CommPtr flow = s4u::Comm::sendto_async(host(0), host(to), without.bandwidth ? 0 : bytes);
  const double latency = world_.latency(placement_.first, placement_.first + to);
  return comm::Ticket(std::make_unique<TeamTransfer>(ranks_, flow, bytes, latency));
}

std::unique_ptr<comm::GradientMemory> TeamActor::memory(std::size_t floats) {
  return std::make_unique<comm::GradientMemory>(world_.phantom(floats));
}

}  // namespace isobar::sim
