// The messages of every algorithm on a few ranks, as textbooks draw them, and what the ranks have afterwards. One line
// for each round; "0>2:+4-5" is a message from rank 0 to rank 2 with the numbers 4 and 5, which are added; "=" would
// replace.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "isobar/comm/local_comm.hpp"
#include "isobar/comm/schedule.hpp"

namespace isobar::comm {
namespace {

using Lines = std::vector<std::string>;
using RankNumbers = std::vector<std::vector<float>>;  // by rank

std::string range_text(const Range& range) {
  return range.count == 1 ? fmt::format("{}", range.begin) : fmt::format("{}-{}", range.begin, range.end() - 1);
}

// What the receivers say; that the senders say the same is a conformance test.
Lines messages(const Algorithm& algorithm, int size, std::size_t count, const std::vector<int>& nodes = {}) {
  std::vector<std::vector<std::tuple<int, int, std::size_t, std::string>>> rounds;
  for (int rank = 0; rank < size; ++rank) {
    const Schedule schedule = algorithm.schedule({rank, size, nodes}, count);
    rounds.resize(schedule.size());
    for (std::size_t round = 0; round < schedule.size(); ++round)
      for (const Move& move : schedule[round])
        if (move.kind != Move::Kind::send)
          rounds[round].emplace_back(move.peer, rank, move.range.begin,
                                     fmt::format("{}>{}:{}{}", move.peer, rank,
                                                 move.kind == Move::Kind::add ? "+" : "=", range_text(move.range)));
  }
  Lines lines;
  for (auto& round : rounds) {
    std::ranges::sort(round);
    std::string& line = lines.emplace_back();
    for (const auto& [from, to, begin, text] : round) line += (line.empty() ? "" : " ") + text;
  }
  return lines;
}

RankNumbers after(const Algorithm& algorithm, RankNumbers numbers, const std::vector<int>& nodes = {}) {
  const int size = static_cast<int>(numbers.size());
  run_ranks(size, [&](Comm& comm) {
    std::vector<float>& own = numbers[static_cast<std::size_t>(comm.rank())];
    run(comm, algorithm.schedule({comm.rank(), size, nodes}, own.size()), {own});
  });
  return numbers;
}

void expect_all_reduce(const Spec& spec, int size, std::size_t count, const Lines& lines,
                       const std::vector<int>& nodes = {}) {
  const auto algorithm = make(all_reduces(), spec, "all-reduce");
  EXPECT_EQ(messages(*algorithm, size, count, nodes), lines) << spec.str();
  RankNumbers before;
  float sum = 0;
  for (float number = 1; std::ssize(before) < size; number *= 10, sum += before.back()[0])
    before.emplace_back(count, number);
  EXPECT_EQ(after(*algorithm, before, nodes), RankNumbers(before.size(), std::vector(count, sum)))
      << spec.str();  // 1111
}

void expect_reduce_scatter(const Spec& spec, int size, const Lines& lines) {
  const auto algorithm = make(reduce_scatters(), spec, "reduce-scatter");
  const auto count = static_cast<std::size_t>(size);
  EXPECT_EQ(messages(*algorithm, size, count), lines);
  RankNumbers before;
  float sum = 0;
  for (float number = 1; std::ssize(before) < size; number *= 10, sum += before.back()[0])
    before.emplace_back(count, number);
  const RankNumbers found = after(*algorithm, before);
  for (std::size_t rank = 0; rank < count; ++rank) EXPECT_EQ(found[rank][rank], sum);
}

void expect_all_gather(const Spec& spec, int size, const Lines& lines) {
  const auto algorithm = make(all_gathers(), spec, "all-gather");
  const auto count = static_cast<std::size_t>(size);
  EXPECT_EQ(messages(*algorithm, size, count), lines);
  RankNumbers before(count, std::vector<float>(count, -1));
  std::vector<float> all(count);
  for (std::size_t rank = 0; rank < count; ++rank) before[rank][rank] = all[rank] = static_cast<float>(rank + 5);
  EXPECT_EQ(after(*algorithm, before), RankNumbers(count, all));
}

void expect_broadcast(const Spec& spec, int size, std::size_t count, const Lines& lines) {
  const auto algorithm = make(broadcasts(), spec, "broadcast");
  EXPECT_EQ(messages(*algorithm, size, count), lines);
  RankNumbers before(static_cast<std::size_t>(size), std::vector<float>(count, -1));
  for (std::size_t i = 0; i < count; ++i) before[0][i] = static_cast<float>(i + 5);
  EXPECT_EQ(after(*algorithm, before), RankNumbers(before.size(), before[0]));
}

TEST(KnownAnswer, reduce_scatter_ring) {
  expect_reduce_scatter("ring", 3, {"0>1:+2 1>2:+0 2>0:+1", "0>1:+1 1>2:+2 2>0:+0"});
}

TEST(KnownAnswer, all_gather_ring) { expect_all_gather("ring", 3, {"0>2:=0 1>0:=1 2>1:=2", "0>2:=1 1>0:=2 2>1:=0"}); }

TEST(KnownAnswer, all_reduce_ring) {
  expect_all_reduce("ring", 3, 3,
                    {"0>1:+2 1>2:+0 2>0:+1", "0>1:+1 1>2:+2 2>0:+0", "0>2:=0 1>0:=1 2>1:=2", "0>2:=1 1>0:=2 2>1:=0"});
}

// Two segments of three numbers, the second a round later.
TEST(KnownAnswer, all_reduce_pipelined_ring) {
  expect_all_reduce("pipelined_ring(segment=3)", 2, 6,
                    {"0>1:+2 1>0:+0-1", "0>1:=0-1 0>1:+5 1>0:=2 1>0:+3-4", "0>1:=3-4 1>0:=5"});
}

TEST(KnownAnswer, all_reduce_recursive_doubling) {
  const Lines four{"0>1:+0-1 1>0:+0-1 2>3:+0-1 3>2:+0-1", "0>2:+0-1 1>3:+0-1 2>0:+0-1 3>1:+0-1"};
  expect_all_reduce("recursive_doubling", 4, 2, four);
  expect_all_reduce("recursive_doubling", 3, 2, {"1>0:+0-1", "0>2:+0-1 2>0:+0-1", "0>1:=0-1"});
}

TEST(KnownAnswer, all_reduce_reproducible) {
  expect_all_reduce("reproducible", 4, 1, {"0>1:+0 1>0:+0 2>3:+0 3>2:+0", "0>2:+0 1>3:+0 2>0:+0 3>1:+0"});
  // Neighbours first: 2^24 and 1 of the ranks 0 and 1 lose the 1, which 1 + 1 of the ranks 2 and 3 do not.
  const auto algorithm = make(all_reduces(), "reproducible", "all-reduce");
  EXPECT_EQ(after(*algorithm, {{0x1p24f}, {1}, {1}, {1}}), RankNumbers(4, {0x1p24f + 2}));
  EXPECT_EQ(after(*algorithm, {{1}, {1}, {1}, {0x1p24f}}), RankNumbers(4, {0x1p24f + 2}));
  EXPECT_EQ(after(*algorithm, {{0x1p24f}, {1}, {-0x1p24f}, {1}}), RankNumbers(4, {1}));
}

TEST(KnownAnswer, reduce_scatter_halving) {
  expect_reduce_scatter("halving", 4, {"0>2:+2-3 1>3:+2-3 2>0:+0-1 3>1:+0-1", "0>1:+1 1>0:+0 2>3:+3 3>2:+2"});
}

TEST(KnownAnswer, all_gather_doubling) {
  expect_all_gather("doubling", 4, {"0>1:=0 1>0:=1 2>3:=2 3>2:=3", "0>2:=0-1 1>3:=0-1 2>0:=2-3 3>1:=2-3"});
}

// The first and largest round is with the nearest rank.
TEST(KnownAnswer, all_reduce_halving_doubling) {
  expect_all_reduce("halving_doubling", 4, 4,
                    {"0>1:+2-3 1>0:+0-1 2>3:+2-3 3>2:+0-1", "0>2:+1 1>3:+3 2>0:+0 3>1:+2",
                     "0>2:=0 1>3:=2 2>0:=1 3>1:=3", "0>1:=0-1 1>0:=2-3 2>3:=0-1 3>2:=2-3"});
}

TEST(KnownAnswer, all_reduce_tree) {
  expect_all_reduce("tree", 4, 1, {"1>0:+0 3>2:+0", "2>0:+0", "0>2:=0", "0>1:=0 2>3:=0"});
}

// Two nodes of two ranks: each rank sums a half of the numbers within its node, a ring between nodes for each half.
TEST(KnownAnswer, all_reduce_hierarchical) {
  expect_all_reduce("hierarchical(inner=ring, outer=ring)", 4, 4,
                    {"0>1:+2-3 1>0:+0-1 2>3:+2-3 3>2:+0-1", "0>2:+1 1>3:+3 2>0:+0 3>1:+2",
                     "0>2:=0 1>3:=2 2>0:=1 3>1:=3", "0>1:=0-1 1>0:=2-3 2>3:=0-1 3>2:=2-3"},
                    {0, 0, 1, 1});
}

TEST(KnownAnswer, broadcast_tree) { expect_broadcast("tree", 5, 2, {"0>4:=0-1", "0>2:=0-1", "0>1:=0-1 2>3:=0-1"}); }

TEST(KnownAnswer, broadcast_scatter_gather) {
  expect_broadcast("scatter_gather", 4, 4,
                   {"0>2:=2-3", "0>1:=1 2>3:=3", "0>3:=0 1>0:=1 2>1:=2 3>2:=3", "0>3:=1 1>0:=2 2>1:=3 3>2:=0",
                    "0>3:=2 1>0:=3 2>1:=0 3>2:=1"});
}

TEST(KnownAnswer, broadcast_pipelined_chain) {
  expect_broadcast("pipelined_chain(segment=2)", 3, 4, {"0>1:=0-1", "0>1:=2-3 1>2:=0-1", "1>2:=2-3"});
}

}  // namespace
}  // namespace isobar::comm
