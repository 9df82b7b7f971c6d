// FlowWorld: what the ranks of a simulation by flows share: the network, where everybody is, and the tables in which
// they find each other. Actors take turns, so nothing here needs a lock.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <simgrid/s4u.hpp>
#include <unordered_map>

#include "isobar/comm/group_register.hpp"
#include "isobar/sim/flows.hpp"
#include "isobar/sim/shared_core.hpp"

namespace isobar::sim {

/// A meeting of all members of a group, to share memory: each goes on when all have come.
struct Meeting {
  simgrid::s4u::BarrierPtr all{};
  std::shared_ptr<comm::SharedMemory> memory{};
};

/// Wakes a rank that waits for any of its messages, and says which has come. SimGrid's own way to wait for one of many
/// takes as long as there are many, each time.
struct Bell {
  simgrid::s4u::SemaphorePtr rung = simgrid::s4u::Semaphore::create(0);
  bool waited_for = false;
  std::unordered_map<const void*, std::function<void()>> watched{};  ///< by message; called once, as it arrives

  void ring(const void* message) {
    if (const auto tell = watched.extract(message)) tell.mapped()();
    if (std::exchange(waited_for, false)) rung->release();
  }
  /// Returns when it rings, but not after so many seconds; negative: however long it takes.
  void wait(double seconds) {
    waited_for = true;
    if (seconds < 0) rung->acquire();
    else if (rung->acquire_timeout(seconds)) waited_for = false;
  }
};

/// What a message carries; nothing of what lies in phantom memory.
struct FlowPacket {
  std::size_t bytes = 0;
  std::vector<std::byte> contents{};
  Bell *sender = nullptr, *receiver = nullptr;  ///< rung when it has arrived
};

struct FlowWorld {
  const Topology& topology;
  const Platform& platform;
  RankNodes placement;
  SumCosts& costs;
  FlowOptions options;
  std::exception_ptr error{};
  std::deque<Bell> bells{};                                          ///< by rank
  std::vector<SharedCore> cores{};                                   ///< by rank
  std::map<std::pair<std::uint64_t, int>, int> reducers{};           ///< made so far, by group and rank
  comm::GroupRegister groups{};                                      ///< numbers of groups; that of all ranks is 0
  std::map<std::pair<std::uint64_t, int>, Meeting> meetings{};       ///< by group, and how many it has had before
  std::map<std::size_t, std::unique_ptr<PhantomFloats>> phantoms{};  ///< by length, for all ranks
  std::vector<std::shared_ptr<FlowPacket*>> left_behind{};           ///< where messages arrive that nobody waits for
  std::map<std::pair<int, int>, double> latencies{};                 ///< known so far, by nodes

  double latency(int from, int to) {
    if (options.without.latency) return 0;
    const std::pair nodes(placement.node_of(from), placement.node_of(to));
    const auto [found, is_new] = latencies.try_emplace(nodes, 0.0);
    std::vector<int> links;
    if (is_new) found->second = topology.route(nodes.first, nodes.second, links);
    return found->second;
  }
  std::span<float> phantom(std::size_t floats) {
    auto& found = phantoms[floats];
    if (!found) found = std::make_unique<PhantomFloats>(floats);
    return found->all();
  }
  bool is_phantom(std::span<const std::byte> bytes) const {
    return std::ranges::any_of(phantoms, [&](const auto& each) {
      const std::span<const std::byte> all = std::as_bytes(each.second->all());
      return bytes.data() >= all.data() && bytes.data() + bytes.size() <= all.data() + all.size();
    });
  }
};

/// The group of all ranks as one of them sees it.
std::unique_ptr<comm::Comm> flow_comm(FlowWorld& world, int rank);

/// What a rank of the world takes messages from, whichever has come.
std::unique_ptr<comm::Inbox> flow_inbox(FlowWorld& world, int rank);

/// Sums by flows, among `members` of the world; `rank` is the number among them.
std::unique_ptr<comm::Reducer> flow_reducer(FlowWorld& world, const std::vector<int>& members, int rank,
                                            std::uint64_t group, std::span<float> memory,
                                            const comm::ReducerOptions& options);

}  // namespace isobar::sim
