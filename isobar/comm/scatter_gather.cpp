// Broadcast of long messages after van de Geijn: a binomial tree scatters the blocks, a ring gathers them on all ranks.
// Rank 0 sends about 2 n numbers instead of n log2 P.
#include <algorithm>

#include "isobar/comm/compose.hpp"

namespace isobar::comm {
namespace {

using Kind = Move::Kind;

// The scatter backwards: collects the blocks at rank 0; a rank at distance d also sends those of its part of the tree.
Schedule gather(int rank, int size, std::size_t count) {
  Schedule schedule;
  for (int distance = 1; distance < size; distance *= 2) {
    Round& round = schedule.emplace_back();
    const int place = rank % (2 * distance), child = rank + distance;
    if (place == distance)
      add(round, Kind::send, rank - distance, blocks(count, size, rank, std::min(rank + distance, size)));
    else if (place == 0 && child < size)
      add(round, Kind::receive, child, blocks(count, size, child, std::min(child + distance, size)));
  }
  return schedule;
}

Schedule broadcast_by_scattering(const Group& group, std::size_t count) {
  Schedule schedule = mirrored(gather(group.rank, group.size, count));
  append(schedule, mirrored(ring_reduce_scatter(group.rank, group.size, count)));
  return schedule;
}

}  // namespace

extern const Row<Algorithm> broadcast_scatter_gather{"scatter_gather",
                                                     "scatter by a tree, all-gather by a ring: for long messages",
                                                     [](Args&) { return algorithm(broadcast_by_scattering); }};

}  // namespace isobar::comm
