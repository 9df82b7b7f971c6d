#include "isobar/sim/rounds.hpp"

#include <numeric>

#include <gtest/gtest.h>

namespace isobar::sim {
namespace {

std::vector<DistinctRound> rounds(const Spec& spec, int ranks, std::size_t count, int per_node = 1,
                                  std::size_t most = 512) {
  std::vector<int> nodes;
  for (int rank = 0; rank < ranks; ++rank) nodes.push_back(rank / per_node);
  return distinct_rounds(*make(comm::all_reduces(), spec, "algorithm"), nodes, count, most);
}

double numbers_sent(const std::vector<DistinctRound>& all) {
  double sum = 0;
  for (const DistinctRound& round : all)
    for (const RoundMessage& message : round.messages) sum += round.times * static_cast<double>(message.numbers);
  return sum;
}

TEST(Rounds, ARingIsTwo) {
  const auto all = rounds("ring", 16, 1600);
  ASSERT_EQ(all.size(), 2u);  // one adds, the other hands on
  for (std::size_t half = 0; half < 2; ++half) {
    EXPECT_EQ(all[half].times, 15);
    ASSERT_EQ(all[half].messages.size(), 16u);
    for (const RoundMessage& message : all[half].messages) {
      EXPECT_EQ(message.to, (message.from + (half == 0 ? 1 : 15)) % 16);  // results go the other way round
      EXPECT_EQ(message.numbers, 100u);
    }
  }
  EXPECT_TRUE(all[0].messages[0].added);
  EXPECT_FALSE(all[1].messages[0].added);
}

TEST(Rounds, HalvingAndDoublingHasAllItsRounds) {
  const auto all = rounds("halving_doubling", 16, 1600);
  EXPECT_EQ(all.size(), 8u);
  EXPECT_EQ(numbers_sent(all), 16 * 2 * 1500.0);
}

// What is sent is what the schedules of all ranks send, for every algorithm.
TEST(Rounds, NothingIsLost) {
  for (const auto* row : comm::all_reduces()) {
    const int ranks = 12;
    const std::size_t count = 1200;
    if (row->name == "reproducible") continue;  // powers of two only
    const Spec spec{row->name};
    const auto algorithm = make(comm::all_reduces(), spec, "algorithm");
    std::vector<int> nodes;
    for (int rank = 0; rank < ranks; ++rank) nodes.push_back(rank / 3);
    double expected = 0;
    for (int rank = 0; rank < ranks; ++rank)
      for (const comm::Round& round : algorithm->schedule({rank, ranks, nodes}, count))
        for (const comm::Move& move : round)
          if (move.kind == comm::Move::Kind::send && move.peer != rank)
            expected += static_cast<double>(move.range.count);
    EXPECT_DOUBLE_EQ(numbers_sent(rounds(spec, ranks, count, 3)), expected) << row->name;
  }
}

TEST(Rounds, FewStandForMany) {
  const auto all = rounds("ring", 40, 7), few = rounds("ring", 40, 7, 1, 10);
  EXPECT_GT(all.size(), 10u);
  EXPECT_EQ(few.size(), 10u);
  const auto times = [](const std::vector<DistinctRound>& list) {
    return std::accumulate(list.begin(), list.end(), 0.0,
                           [](double sum, const DistinctRound& round) { return sum + round.times; });
  };
  EXPECT_DOUBLE_EQ(times(all), times(few));
}

}  // namespace
}  // namespace isobar::sim
