#include "isobar/comm/reducer.hpp"

#include <algorithm>

#include "isobar/comm/collectives.hpp"
#include "isobar/comm/reducers.hpp"

namespace isobar::comm {

std::unique_ptr<Reducer> make_reducer(Comm& comm, std::size_t floats, const ReducerOptions& options) {
  const std::vector<std::int64_t> asked = all_gather_number(comm, static_cast<std::int64_t>(floats));
  for (int rank = 0; rank < comm.size(); ++rank)
    if (asked[static_cast<std::size_t>(rank)] != asked[0])
      fail("sums over all ranks: rank {} has {} numbers, rank {} has {}", comm.members()[0], asked[0],
           comm.members()[static_cast<std::size_t>(rank)], asked[static_cast<std::size_t>(rank)]);
  if (comm.size() == 1) return lone_reducer(comm, floats);
  if (std::ranges::any_of(comm.nodes(), [](int node) { return node != 0; }))
    fail("sums over all ranks: they are on several nodes, one is needed");
  return shared_reducer(comm, floats, options);
}

}  // namespace isobar::comm
