// The distinct rounds of a schedule, seen from all ranks together. A ring of thousands of ranks has thousands of rounds
// in which the same ranks send each other equally much: those are kept once, with how often they occur.
#pragma once

#include <cstddef>
#include <vector>

#include "isobar/comm/schedule.hpp"

namespace isobar::sim {

struct RoundMessage {
  int from = 0, to = 0;
  std::size_t numbers = 0;
  bool added = false;  ///< by its receiver; otherwise it replaces what is there
};

struct DistinctRound {
  double times = 0;  ///< how often it occurs; no whole number where rounds stand for others
  std::vector<RoundMessage> messages{};
};

/// All rounds of `algorithm` for ranks on `nodes` (by rank, as comm::Group::nodes) and so many numbers. Of more than
/// `most` distinct ones, that many, spread evenly, stand for all.
std::vector<DistinctRound> distinct_rounds(const comm::Algorithm& algorithm, const std::vector<int>& nodes,
                                           std::size_t count, std::size_t most = 128);

}  // namespace isobar::sim
