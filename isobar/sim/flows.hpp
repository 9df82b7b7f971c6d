// Flows: every rank an actor of SimGrid with a clock of its own, every message a flow that shares the links of its
// route with all others. Exact as SimGrid is, and as costly: some microseconds for a message.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "isobar/comm/comm.hpp"
#include "isobar/sim/noise.hpp"
#include "isobar/sim/phantom.hpp"
#include "isobar/sim/replay.hpp"
#include "isobar/sim/sum_costs.hpp"

namespace isobar::sim {

/// A message of a sum, for tests: sums are counted from 0 on every rank.
struct FlowMessage {
  std::int64_t sum = 0;
  int from = 0, to = 0;
  std::size_t bytes = 0;
};

/// One rank inside a simulation by flows.
struct FlowRank {
  int rank;
  comm::Comm& comm;
  Timeline& timeline;
  double& waited_for_input;  ///< seconds so far
};

struct FlowOptions {
  Without without{};  ///< contention cannot be left out here
  double read_seconds = 0;
  std::function<void(const FlowMessage&)> sent{};  ///< told of every message of a sum as it begins
};

/// Runs `work` once for every rank, as actors, and returns when all have ended. The first error of a rank ends all and
/// is thrown. All must outlive it.
void run_flows(const Topology& topology, const Platform& platform, const RankNodes& placement, const Noise& noise,
               SumCosts& costs, const FlowOptions& options, const std::function<void(FlowRank)>& work);

}  // namespace isobar::sim
