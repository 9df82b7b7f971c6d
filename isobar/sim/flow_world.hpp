// FlowWorld: what the ranks of a simulation by flows share: the network, where everybody is, and the tables in which
// they find each other. Actors take turns, so nothing here needs a lock.
#pragma once

#include <map>
#include <simgrid/s4u.hpp>

#include "isobar/comm/group_register.hpp"
#include "isobar/sim/flows.hpp"
#include "isobar/sim/shared_core.hpp"

namespace isobar::sim {

/// A meeting of all members of a group, to share memory: each goes on when all have come.
struct Meeting {
  simgrid::s4u::BarrierPtr all{};
  std::shared_ptr<comm::SharedMemory> memory{};
};

struct FlowWorld {
  const Topology& topology;
  const Platform& platform;
  RankNodes placement;
  SumCosts& costs;
  FlowOptions options;
  std::exception_ptr error{};
  std::vector<SharedCore> cores{};                                   ///< by rank
  std::map<std::pair<int, int>, int> reducers{};                     ///< made so far, by group and rank
  comm::GroupRegister groups{};                                      ///< numbers of groups; that of all ranks is 0
  std::map<std::pair<int, int>, Meeting> meetings{};                 ///< by group, and how many it has had before
  std::map<std::size_t, std::unique_ptr<PhantomFloats>> phantoms{};  ///< by length, for all ranks

  double latency(int from, int to) const {
    if (options.without.latency) return 0;
    std::vector<int> links;
    return topology.route(placement.node_of(from), placement.node_of(to), links);
  }
  std::span<float> phantom(std::size_t floats) {
    auto& found = phantoms[floats];
    if (!found) found = std::make_unique<PhantomFloats>(floats);
    return found->all();
  }
};

/// The group of all ranks as one of them sees it.
std::unique_ptr<comm::Comm> flow_comm(FlowWorld& world, int rank);

/// Sums by flows, among `members` of the world; `rank` is the number among them.
std::unique_ptr<comm::Reducer> flow_reducer(FlowWorld& world, const std::vector<int>& members, int rank, int group,
                                            std::size_t floats, const comm::ReducerOptions& options);

}  // namespace isobar::sim
