// Building blocks of algorithms: parts for some of the ranks or some of the data, one after the other or at the same
// time, and patterns that several algorithms share. All of them are seen from one rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "isobar/comm/schedule.hpp"

namespace isobar::comm {

/// An algorithm without arguments.
std::unique_ptr<Algorithm> algorithm(Schedule (*schedule)(const Group&, std::size_t));

/// Adds a move, unless its range is empty.
void add(Round& round, Move::Kind kind, int peer, const Range& range);

/// The numbers of blocks [first, last) of `count` numbers cut into `parts`.
Range blocks(std::size_t count, int parts, int first, int last);

/// Appends `part`. Its rank r is members[r], and its data begin at `offset`.
void append(Schedule& schedule, const Schedule& part, std::span<const int> members, std::size_t offset = 0);
/// Appends `part`, which has the same ranks and data.
void append(Schedule& schedule, const Schedule& part);

/// The schedule backwards, with every message in the other direction: one that brings sums from all ranks to their
/// places becomes one that brings numbers from these places to all ranks.
Schedule mirrored(const Schedule& schedule);

/// How many segments of about `segment` numbers the data are cut into: at least 1, and few enough for a small schedule.
int segments(std::size_t count, std::int64_t segment);

/// A power of two of ranks that stand for all: among the first 2 * excess ranks, the lower of two neighbours stands for
/// both.
struct Core {
  explicit Core(const Group& group);
  int size = 1, excess = 0;
  std::vector<int> members{};  ///< its ranks
  int index = -1;              ///< of this rank among the members; -1: its neighbour stands for it
  int neighbour = -1;          ///< the other rank of the pair; -1: this rank is in no pair
};

/// An all-reduce by the core: neighbours are summed, then `part` runs, then neighbours get the result.
Schedule folded(const Core& core, const Group& group, std::size_t count, const Schedule& part);

/// Reduce-scatter in size - 1 rounds: each block passes through all ranks and ends at its own.
Schedule ring_reduce_scatter(int rank, int size, std::size_t count);

/// Reduce-scatter of a power of two of ranks in log2 rounds, each with half the numbers of the one before: rank r ends
/// with [bounds[r], bounds[r + 1]). The first and largest round is with the farthest rank. A rank of -1 takes no part:
/// its rounds are empty.
Schedule halving_reduce_scatter(int rank, std::span<const std::size_t> bounds);

/// The sum at rank 0, by a binomial tree.
Schedule tree_reduce(int rank, int size, std::size_t count);

/// All-reduce of the core in log2 rounds: each round doubles the number of ranks in everyone's sum, neighbours first.
Schedule doubling_all_reduce(const Core& core, std::size_t count);

}  // namespace isobar::comm
