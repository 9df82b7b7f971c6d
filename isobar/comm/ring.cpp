// Rings: every rank communicates only with its two neighbours. Reduce-scatter and all-gather take P - 1 rounds of n / P
// numbers each, and the all-reduce is both: 2 (P - 1) rounds, 2 n (P - 1) / P numbers, the fewest possible.
#include "isobar/comm/compose.hpp"

namespace isobar::comm {
namespace {

Schedule scatter_by_ring(const Group& group, std::size_t count) {
  return ring_reduce_scatter(group.rank, group.size, count);
}

Schedule gather_by_ring(const Group& group, std::size_t count) { return mirrored(scatter_by_ring(group, count)); }

Schedule reduce_by_ring(const Group& group, std::size_t count) {
  Schedule schedule = scatter_by_ring(group, count);
  append(schedule, mirrored(schedule));
  return schedule;
}

}  // namespace

extern const Row<Algorithm> all_gather_ring{"ring", "blocks go round once: least traffic, P - 1 rounds",
                                            [](Args&) { return algorithm(gather_by_ring); }};

extern const Row<Algorithm> all_reduce_ring{"ring", "sums go round, then results: least traffic, 2 (P - 1) rounds",
                                            [](Args&) { return algorithm(reduce_by_ring); }};

extern const Row<Algorithm> reduce_scatter_ring{"ring", "sums go round once: least traffic, P - 1 rounds",
                                                [](Args&) { return algorithm(scatter_by_ring); }};

}  // namespace isobar::comm
