// What algorithms cost, compared with textbook formulas: rounds, and numbers sent.
#include <bit>

#include <gtest/gtest.h>

#include "isobar/comm/schedule.hpp"

#include "tests/comm/members.hpp"

namespace isobar::comm {
namespace {

constexpr std::size_t n = 12'252'240;  // a multiple of 1 to 17

int log2_of(int size) { return std::bit_width(static_cast<unsigned>(size)) - 1; }
int ceil_log2_of(int size) { return std::bit_width(static_cast<unsigned>(size - 1)); }
bool power_of_two(int size) { return std::has_single_bit(static_cast<unsigned>(size)); }

std::size_t numbers(const Schedule& schedule, int rank, const auto& counts_for) {
  std::size_t sum = 0;
  for (const Round& round : schedule)
    for (const Move& move : round)
      if (move.kind == Move::Kind::send && move.peer != rank && counts_for(move.peer)) sum += move.range.count;
  return sum;
}

struct Cost {
  std::size_t rounds = 0;
  std::vector<std::size_t> sent{};  // by rank
  std::size_t total = 0, most = 0;
};

Cost cost(Table<Row<Algorithm>> table, const Spec& spec, int size, std::size_t count = n) {
  const auto algorithm = make(table, spec, "algorithm");
  Cost cost;
  for (int rank = 0; rank < size; ++rank) {
    const Schedule schedule = algorithm->schedule({rank, size}, count);
    cost.rounds = schedule.size();
    cost.sent.push_back(numbers(schedule, rank, [](int) { return true; }));
    cost.total += cost.sent.back();
    cost.most = std::max(cost.most, cost.sent.back());
  }
  return cost;
}

void expect_cost(Table<Row<Algorithm>> table, const Spec& spec, int size, int rounds, std::size_t sent_by_each) {
  const Cost found = cost(table, spec, size);
  EXPECT_EQ(found.rounds, static_cast<std::size_t>(rounds)) << spec.str() << ", " << size << " ranks";
  for (const std::size_t sent : found.sent) EXPECT_EQ(sent, sent_by_each) << spec.str() << ", " << size << " ranks";
}

std::size_t without_own(int size) { return n / static_cast<std::size_t>(size) * static_cast<std::size_t>(size - 1); }

TEST(ScheduleCost, Rings) {
  for (int size = 1; size <= 17; ++size) {
    expect_cost(all_reduces(), "ring", size, 2 * (size - 1), 2 * without_own(size));
    expect_cost(reduce_scatters(), "ring", size, size - 1, without_own(size));
    expect_cost(all_gathers(), "ring", size, size - 1, without_own(size));
    // Here every segment divides evenly into blocks: 12 segments of n / 12, and one more round for each but the first.
    if (n / 12 % static_cast<std::size_t>(size) == 0)
      expect_cost(all_reduces(), Spec("pipelined_ring", {{"segment", static_cast<std::int64_t>(n / 12)}}), size,
                  size == 1 ? 0 : 2 * (size - 1) + 11, 2 * without_own(size));
  }
}

TEST(ScheduleCost, DoublingAndHalvingOfPowersOfTwo) {
  for (const int size : {1, 2, 4, 8, 16}) {
    const int rounds = log2_of(size);
    expect_cost(all_reduces(), "recursive_doubling", size, rounds, n * static_cast<std::size_t>(rounds));
    expect_cost(all_reduces(), "reproducible", size, rounds, n * static_cast<std::size_t>(rounds));
    expect_cost(all_reduces(), "halving_doubling", size, 2 * rounds, 2 * without_own(size));
    expect_cost(reduce_scatters(), "halving", size, rounds, without_own(size));
    expect_cost(all_gathers(), "doubling", size, rounds, without_own(size));
  }
}

TEST(ScheduleCost, WhereThereAreTooManyRanksNeighboursAreSummedFirst) {
  for (int size = 3; size <= 17; ++size) {
    if (power_of_two(size)) continue;
    const int rounds = log2_of(size), core = 1 << rounds;
    const Cost doubling = cost(all_reduces(), "recursive_doubling", size);
    EXPECT_EQ(doubling.rounds, static_cast<std::size_t>(rounds + 2));
    EXPECT_EQ(doubling.most, n * static_cast<std::size_t>(rounds + 1));
    EXPECT_EQ(doubling.total, n * static_cast<std::size_t>(core * rounds + 2 * (size - core)));
    const Cost halving = cost(all_reduces(), "halving_doubling", size);
    EXPECT_EQ(halving.rounds, static_cast<std::size_t>(2 * rounds + 2));
    EXPECT_EQ(halving.most, 2 * without_own(core) + n);
    EXPECT_EQ(halving.total, n * static_cast<std::size_t>(2 * (core - 1) + 2 * (size - core)));
    EXPECT_EQ(cost(reduce_scatters(), "halving", size).rounds, static_cast<std::size_t>(rounds + 2));
    EXPECT_EQ(cost(all_gathers(), "doubling", size).rounds, static_cast<std::size_t>(rounds + 2));
  }
}

TEST(ScheduleCost, Trees) {
  for (int size = 1; size <= 17; ++size) {
    const auto others = static_cast<std::size_t>(size - 1), rounds = static_cast<std::size_t>(ceil_log2_of(size));
    const Cost all_reduce = cost(all_reduces(), "tree", size), broadcast = cost(broadcasts(), "tree", size);
    EXPECT_EQ(all_reduce.rounds, 2 * rounds);
    EXPECT_EQ(all_reduce.total, 2 * n * others);
    EXPECT_EQ(broadcast.rounds, rounds);
    EXPECT_EQ(broadcast.total, n * others);
    EXPECT_EQ(broadcast.sent[0], n * rounds);
  }
}

TEST(ScheduleCost, BroadcastsOfLongMessages) {
  for (int size = 2; size <= 17; ++size) {
    const Cost scatter_gather = cost(broadcasts(), "scatter_gather", size);
    EXPECT_EQ(scatter_gather.rounds, static_cast<std::size_t>(ceil_log2_of(size) + size - 1));
    EXPECT_EQ(scatter_gather.most, 2 * without_own(size));
    EXPECT_EQ(scatter_gather.sent[0], 2 * without_own(size));
    const Cost chain =
        cost(broadcasts(), Spec("pipelined_chain", {{"segment", static_cast<std::int64_t>(n / 40)}}), size);
    EXPECT_EQ(chain.rounds, static_cast<std::size_t>(40 + size - 2));
    for (int rank = 0; rank < size; ++rank)
      EXPECT_EQ(chain.sent[static_cast<std::size_t>(rank)], rank + 1 < size ? n : 0);
  }
}

// Between nodes a node sends as much as one rank of a ring of nodes would, however many ranks it has.
TEST(ScheduleCost, HierarchicalSendsEachNumberBetweenNodesOnce) {
  const auto algorithm = make(all_reduces(), "hierarchical(inner=ring, outer=ring)", "algorithm");
  for (const int nodes : {1, 2, 3, 4})
    for (const int per_node : {1, 2, 3, 4}) {
      const int size = nodes * per_node;
      const std::vector<int> where = nodes_of(size, per_node);
      for (int rank = 0; rank < size; ++rank) {
        const Schedule schedule = algorithm->schedule({rank, size, where}, n);
        const auto is_near = [&](int peer) { return peer / per_node == rank / per_node; };
        EXPECT_EQ(schedule.size(), static_cast<std::size_t>(2 * (per_node - 1) + 2 * (nodes - 1)));
        EXPECT_EQ(numbers(schedule, rank, is_near), 2 * without_own(per_node));
        EXPECT_EQ(numbers(schedule, rank, [&](int peer) { return !is_near(peer); }),
                  2 * without_own(nodes) / static_cast<std::size_t>(per_node));
      }
    }
}

TEST(ScheduleCost, OfNodesOfDifferentSizesOnlyOneRankTalksToOthers) {
  const auto algorithm = make(all_reduces(), "hierarchical(outer=ring)", "algorithm");
  const std::vector<int> where = nodes_of(8, 3);  // 3, 3 and 2
  for (int rank = 0; rank < 8; ++rank) {
    const Schedule schedule = algorithm->schedule({rank, 8, where}, n);
    EXPECT_EQ(schedule.size(), 2u + 4u + 2u);
    EXPECT_EQ(numbers(schedule, rank, [&](int peer) { return peer / 3 != rank / 3; }),
              rank % 3 == 0 ? 2 * without_own(3) : 0);
  }
}

}  // namespace
}  // namespace isobar::comm
