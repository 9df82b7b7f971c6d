// Flows: every rank an actor of SimGrid with a clock of its own, every message a flow that shares the links of its
// route with all others. Exact as SimGrid is, and as costly: some microseconds for a message. Teams in lockstep may be
// one actor each.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "isobar/comm/comm.hpp"
#include "isobar/parallel/placement.hpp"
#include "isobar/sim/noise.hpp"
#include "isobar/sim/phantom.hpp"
#include "isobar/sim/replay.hpp"
#include "isobar/sim/sum_costs.hpp"

namespace isobar::sim {

/// A message, for tests.
struct FlowMessage {
  std::int64_t sum = -1;  ///< it belongs to, counted from 0 on every rank; -1: to none, but it has a tag
  int tag = -1;
  int from = 0, to = 0;
  std::size_t bytes = 0;
};

/// One rank inside a simulation by flows, or the first of a team that is one actor.
struct FlowRank {
  int rank;
  comm::Comm& comm;
  Timeline& timeline;
  const double& waited_for_input;  ///< seconds so far
};

struct FlowOptions {
  Without without{};  ///< of contention, as much as the topology leaves out
  double read_seconds = 0;
  std::span<const parallel::Placement> ranks{};  ///< whose circles messages within passes go in; empty: there are none
  bool teams_as_one = false;                     ///< a team is an actor; needs `ranks`, and
  std::span<const Workload* const> parts{};      ///< what each part of the model computes
  bool real_numbers = false;  ///< gradients and the like are kept, sent and added; otherwise nobody knows what they are
  std::function<void(const FlowMessage&)> sent{};  ///< told of every message as it begins
};

/// Runs `work` once for every rank, as actors, and returns when all have ended. The first error of a rank ends all and
/// is thrown. All must outlive it.
void run_flows(const Topology& topology, const Platform& platform, const RankNodes& placement, const Noise& noise,
               SumCosts& costs, const FlowOptions& options, const std::function<void(FlowRank)>& work);

}  // namespace isobar::sim
