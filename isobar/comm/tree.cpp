// Binomial trees: ceil(log2 P) rounds bring the sum to rank 0, as many bring numbers from there to all ranks. No rank
// waits for more than log2 P messages, but rank 0 handles all numbers in each round.
#include "isobar/comm/compose.hpp"

namespace isobar::comm {
namespace {

Schedule broadcast_by_tree(const Group& group, std::size_t count) {
  return mirrored(tree_reduce(group.rank, group.size, count));
}

Schedule reduce_by_tree(const Group& group, std::size_t count) {
  Schedule schedule = tree_reduce(group.rank, group.size, count);
  append(schedule, mirrored(schedule));
  return schedule;
}

}  // namespace

extern const Row<Algorithm> all_reduce_tree{"tree", "binomial tree to rank 0 and back: 2 log2 P rounds",
                                            [](Args&) { return algorithm(reduce_by_tree); }};

extern const Row<Algorithm> broadcast_tree{"tree", "binomial tree: log2 P rounds, each with all numbers",
                                           [](Args&) { return algorithm(broadcast_by_tree); }};

}  // namespace isobar::comm
