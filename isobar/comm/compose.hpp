// What algorithms are put together from: parts that work for some of the ranks or some of the data, one after the
// other or at the same time, and shapes that several algorithms share. All of them are seen from one rank.
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

/// Adds a move, unless it is of no numbers.
void add(Round& round, Move::Kind kind, int peer, const Range& range);

/// The numbers of blocks [first, last) of `count` numbers cut into `parts`.
Range blocks(std::size_t count, int parts, int first, int last);

/// Lets `part` follow. Its rank r is members[r], and its data begin at `offset`.
void append(Schedule& schedule, const Schedule& part, std::span<const int> members, std::size_t offset = 0);
/// Lets `part`, of the same ranks and data, follow.
void append(Schedule& schedule, const Schedule& part);

/// The schedule backwards, every message in the other direction: of one that brings sums from all ranks to their places
/// the one that brings numbers from these places to all ranks.
Schedule mirrored(const Schedule& schedule);

/// How many segments of about `segment` numbers data are cut into: at least 1, and so few that a schedule stays small.
int segments(std::size_t count, std::int64_t segment);

/// A power of two of ranks that stand for all: of the first ranks the lower of two neighbours stands for both, as far
/// as there are too many.
struct Core {
  explicit Core(const Group& group);
  int size = 1, excess = 0;
  std::vector<int> members{};  ///< its ranks
  int index = -1;              ///< of this rank among them; -1: its neighbour stands for it
  int neighbour = -1;          ///< the rank of the other one of the two; -1: there is none
};

/// An all-reduce by the core: `part` is done between the sums of neighbours and handing them the result.
Schedule folded(const Core& core, const Group& group, std::size_t count, const Schedule& part);

/// Reduce-scatter in size - 1 rounds: a block comes by all ranks and ends at its own.
Schedule ring_reduce_scatter(int rank, int size, std::size_t count);

/// Reduce-scatter of a power of two of ranks in log2 rounds, half as many numbers in each: rank r ends with
/// [bounds[r], bounds[r + 1]). The first round, that of most numbers, is with the farthest rank. A rank of -1 takes no
/// part: its rounds are empty.
Schedule halving_reduce_scatter(int rank, std::span<const std::size_t> bounds);

/// The sum at rank 0, by a binomial tree.
Schedule tree_reduce(int rank, int size, std::size_t count);

/// All-reduce of the core in log2 rounds: after each everyone has the sum of twice as many, neighbours first.
Schedule doubling_all_reduce(const Core& core, std::size_t count);

}  // namespace isobar::comm
