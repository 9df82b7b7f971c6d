// Reproducible: the sum is the balanced binary tree over the ranks in order, (0 + 1) + (2 + 3) and so on, whatever the
// numbers and however they are cut into messages. A rank that first sums 2^k parts of its own by such a tree therefore
// gets the same bits as 2^k ranks would. Only for powers of two.
#include "isobar/comm/compose.hpp"

namespace isobar::comm {
namespace {

Schedule reduce_reproducibly(const Group& group, std::size_t count) {
  const Core core(group);
  if (core.excess > 0)
    fail("the all-reduce 'reproducible' was requested with {} ranks; their number must be a power of two", group.size);
  return doubling_all_reduce(core, count);
}

}  // namespace

extern const Row<Algorithm> all_reduce_reproducible{
    "reproducible", "balanced binary tree over the ranks in order; their number must be a power of two",
    [](Args&) { return algorithm(reduce_reproducibly); }};

}  // namespace isobar::comm
