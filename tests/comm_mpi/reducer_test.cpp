#include "isobar/comm/reducer.hpp"

#include "tests/comm/every_other.hpp"
#include "tests/comm/summing.hpp"
#include "tests/comm_mpi/ranks.hpp"
#include "tests/temporary_folder.hpp"

namespace isobar::comm_mpi::tests {
namespace {

using namespace comm;

float number(int rank, int step, std::size_t i) {
  return static_cast<float>((rank + 1) * static_cast<int>((i * 7 + static_cast<std::size_t>(step)) % 101));
}

// Several sums under way, waited for in an order that differs from rank to rank.
void sums_are_right(Comm& comm, const ReducerOptions& options) {
  const std::vector<std::size_t> counts = {0, 1, 513, 4099, 3, 60'000};
  std::size_t floats = 0;
  for (const std::size_t count : counts) floats += count;
  const auto reducer = isobar::tests::summing(comm, floats, options);
  const std::span<float> memory = reducer->memory();
  const float sum_of_ranks = static_cast<float>(comm.size() * (comm.size() + 1) / 2);
  for (int step = 0; step < 3; ++step) {
    for (std::size_t i = 0; i < floats; ++i) memory[i] = number(comm.rank(), step, i);
    std::vector<Reducer::Sum> started;
    std::size_t begin = 0;
    for (std::size_t k = 0; k < counts.size(); begin += counts[k++])
      started.push_back(reducer->start({{begin, counts[k]}, static_cast<int>(k * 5 % 7), fmt::format("sum {}", k)}));
    for (std::size_t k = 0; k < counts.size(); ++k)
      reducer->wait(started[(k + static_cast<std::size_t>(comm.rank() + step)) % counts.size()]);
    for (std::size_t i = 0; i < floats; ++i) ASSERT_EQ(memory[i], number(0, step, i) * sum_of_ranks) << "at " << i;
  }
}

TEST(Reducer, EveryKindGivesTheSums) {
  Comm& comm = ranks();
  const isobar::tests::TemporaryFolder folder;
  for (const char* algorithm : {"auto", "native", "ring", "recursive_doubling", "halving_doubling", "tree",
                                "pipelined_ring(segment=1000)", "hierarchical"}) {
    SCOPED_TRACE(algorithm);
    sums_are_right(comm, {.algorithm = algorithm, .cache = (folder.path() / "collectives.json").string()});
  }
  if (world().node_count() == 1) sums_are_right(comm, {.algorithm = "shared"});
  if (comm.size() != 3) sums_are_right(comm, {.algorithm = "reproducible"});
  sums_are_right(*comm.among(isobar::tests::every_other(comm.group())), {.algorithm = "ring"});
}

}  // namespace
}  // namespace isobar::comm_mpi::tests
