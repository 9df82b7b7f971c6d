// Recursive doubling: in each of log2 P rounds two ranks exchange all they have. It takes the fewest rounds, but n log2
// P numbers: for short messages. If P is not a power of two, neighbours are summed first and one of each pair stands
// for both.
#include "isobar/comm/compose.hpp"

namespace isobar::comm {
namespace {

Schedule reduce_by_doubling(const Group& group, std::size_t count) {
  const Core core(group);
  return folded(core, group, count, doubling_all_reduce(core, count));
}

}  // namespace

extern const Row<Algorithm> all_reduce_recursive_doubling{"recursive_doubling",
                                                          "pairs exchange everything: fewest rounds, log2 P",
                                                          [](Args&) { return algorithm(reduce_by_doubling); }};

}  // namespace isobar::comm
