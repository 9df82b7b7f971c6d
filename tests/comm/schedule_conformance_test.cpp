// Every algorithm as data: all ranks at once, without threads and without numbers.
#include <bit>

#include <gtest/gtest.h>

#include "isobar/comm/schedule.hpp"

#include "tests/comm/members.hpp"
#include "tests/comm/symbolic.hpp"
#include "tests/expect_error.hpp"

namespace isobar::comm {
namespace {

using symbolic::Symbolic, symbolic::SymbolicSum;

// What a rank has in a stretch before, and whether its value afterwards is right.
SymbolicSum before(Collective collective, int rank, int owner) {
  const bool has = collective == Collective::all_gather  ? rank == owner
                   : collective == Collective::broadcast ? rank == 0
                                                         : true;
  return has ? symbolic::original(rank) : symbolic::garbage(rank);
}

std::uint64_t wanted_ranks(Collective collective, int size, int owner) {
  switch (collective) {
    case Collective::all_gather: return std::uint64_t{1} << owner;
    case Collective::broadcast: return 1;
    default: return size == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << size) - 1;
  }
}

// "" if all ranks end with the right result, the same on all, bit for bit.
std::string wrong(const Member& member, int size, const std::vector<int>& nodes, std::size_t count, bool sixteen_bits) {
  Symbolic ranks(member.schedules(size, nodes, count), count);
  Symbolic::Data data(static_cast<std::size_t>(size), std::vector<SymbolicSum>(ranks.stretches()));
  for (int rank = 0; rank < size; ++rank)
    for (std::size_t i = 0; i < ranks.stretches(); ++i)
      data[static_cast<std::size_t>(rank)][i] = before(member.collective, rank, ranks.owner(i));
  ranks.walk(data, sixteen_bits);
  if (!ranks.complaint().empty()) return ranks.complaint();
  for (std::size_t i = 0; i < ranks.stretches(); ++i) {
    const int owner = ranks.owner(i);
    for (int rank = 0; rank < size; ++rank) {
      if (member.collective == Collective::reduce_scatter && rank != owner) continue;
      const SymbolicSum& value = data[static_cast<std::size_t>(rank)][i];
      if (value.ranks != wanted_ranks(member.collective, size, owner))
        return fmt::format("rank {} has numbers of ranks {:b} in the block of {}", rank, value.ranks, owner);
      if (member.collective != Collective::reduce_scatter && value != data[0][i])
        return fmt::format("rank {} and rank 0 differ in bits in the block of {}", rank, owner);
    }
  }
  return "";
}

void expect_right(const Member& member, int size, const std::vector<int>& nodes, std::size_t count) {
  // Thousands of segments would take minutes and show nothing new: other members have few.
  if (member.algorithm->schedule({0, size, nodes}, count).size() > 150) return;
  for (const bool sixteen_bits : {false, true})
    EXPECT_EQ(wrong(member, size, nodes, count, sixteen_bits), "")
        << member.spec.str() << ", " << size << " ranks, " << count << " numbers, last node "
        << (nodes.empty() ? size - 1 : nodes.back()) << (sixteen_bits ? ", 16 bits" : "");
}

constexpr std::size_t schedule_counts[] = {0, 1, 2, 16, 1237, 1'000'000, 5'000'000'003};

TEST(ScheduleConformance, AllMembersOn1To17RanksAndMore) {
  for (const Member& member : all_members()) {
    if (member.uses_nodes() && !member.spec.arguments().empty()) continue;  // below
    for (int size = 1; size <= 17; ++size)
      for (const std::size_t count : schedule_counts)
        if (member.serves(size, size)) expect_right(member, size, {}, count);
    for (const int size : {31, 32, 33, 64})
      if (member.serves(size, size)) expect_right(member, size, {}, 1237);
  }
}

TEST(ScheduleConformance, AllMembersOnNodesOfSeveralRanks) {
  for (const Member& member : all_members())
    for (int size = 2; member.uses_nodes() && size <= 17; ++size)
      for (int per_node = 1; per_node <= 4; ++per_node)
        for (const std::size_t count : {schedule_counts[1], schedule_counts[4]}) {
          const std::vector<int> nodes = nodes_of(size, per_node);
          if (member.serves(size, nodes.back() + 1)) expect_right(member, size, nodes, count);
        }
}

TEST(ScheduleConformance, NodesNeedNeitherBeInOrderNorOfOneSize) {
  const std::vector<int> arrangements[] = {{0, 1, 0, 1, 0, 1},    {0, 1, 2, 2, 1, 0}, {0, 0, 0, 1},
                                           {0, 1, 1, 1, 2, 2, 0}, {0, 0, 0, 0, 0},    {0, 1, 1}};
  for (const Member& member : all_members())
    for (const std::vector<int>& nodes : arrangements)
      if (member.serves(static_cast<int>(nodes.size()), std::ranges::max(nodes) + 1))
        for (const std::size_t count : schedule_counts)
          expect_right(member, static_cast<int>(nodes.size()), nodes, count);
}

TEST(ScheduleConformance, ReproducibleAddsAsABalancedTreeOverTheRanksInOrder) {
  const auto reproducible = make(all_reduces(), "reproducible", "algorithm");
  for (const int size : {1, 2, 4, 8, 16, 32}) {
    std::vector<Schedule> schedules;
    for (int rank = 0; rank < size; ++rank) schedules.push_back(reproducible->schedule({rank, size}, 1237));
    Symbolic ranks(schedules, 1237);
    Symbolic::Data data;
    std::vector<SymbolicSum> tree;
    for (int rank = 0; rank < size; ++rank) {
      data.emplace_back(ranks.stretches(), symbolic::original(rank));
      tree.push_back(symbolic::original(rank));
    }
    ranks.walk(data, false);
    EXPECT_EQ(ranks.complaint(), "");
    for (; tree.size() > 1; tree.resize(tree.size() / 2))
      for (std::size_t i = 0; i < tree.size() / 2; ++i) tree[i] = symbolic::sum(tree[2 * i], tree[2 * i + 1]);
    for (const std::vector<SymbolicSum>& values : data)
      for (const SymbolicSum& value : values) EXPECT_EQ(value, tree[0]) << size;
  }
  for (const int size : {3, 5, 6, 12, 17})
    EXPECT_EQ(
        tests::error_of([&] {
          reproducible->schedule({0, size}, 1);
        }),
        fmt::format("the all-reduce 'reproducible' was requested with {} ranks; their number must be a power of two",
                    size));
}

TEST(ScheduleConformance, SegmentsAreRefusedBelowOneNumberAndNeverBecomeTooMany) {
  for (const char* segment : {"0", "-5"}) {
    const std::string arguments = fmt::format("(segment={})", segment);
    EXPECT_HAS(tests::error_of([&] { make(all_reduces(), "pipelined_ring" + arguments, "all-reduce"); }), "at least 1");
    EXPECT_HAS(tests::error_of([&] { make(broadcasts(), "pipelined_chain" + arguments, "broadcast"); }), "at least 1");
  }
  const std::size_t billions = 5'000'000'003;
  EXPECT_LT(make(all_reduces(), "pipelined_ring(segment=1)", "all-reduce")->schedule({0, 2}, billions).size(), 5000u);
  EXPECT_LT(make(broadcasts(), "pipelined_chain(segment=1)", "broadcast")->schedule({0, 2}, billions).size(), 5000u);
}

TEST(ScheduleConformance, HierarchicalShowsWhatIsInForce) {
  Spec resolved;
  make(all_reduces(), "hierarchical(outer=pipelined_ring)", "all-reduce", &resolved);
  EXPECT_EQ(resolved.str(), "hierarchical(inner=halving, outer=pipelined_ring(segment=131072))");
}

// The check must be able to fail.
TEST(Symbolic, SeesWhatIsWrong) {
  using Kind = Move::Kind;
  const auto complaint = [](std::vector<Schedule> schedules) {
    Symbolic ranks(std::move(schedules), 10);
    Symbolic::Data data;
    for (int rank = 0; rank < ranks.size(); ++rank) data.emplace_back(ranks.stretches(), symbolic::original(rank));
    ranks.walk(data, false);
    return ranks.complaint();
  };
  const Move to_one{Kind::send, 1, {0, 5}}, from_zero{Kind::add, 0, {0, 5}};
  EXPECT_EQ(complaint({{{to_one}}, {{from_zero}}}), "");
  EXPECT_HAS(complaint({{{to_one}}, {{}}}), "nobody receives");
  EXPECT_HAS(complaint({{{}}, {{from_zero}}}), "not what comes");
  EXPECT_HAS(complaint({{{to_one}}, {{{Kind::add, 0, {0, 4}}}}}), "not what comes");
  EXPECT_HAS(complaint({{{to_one}, {}}, {{from_zero}}}), "different numbers of rounds");
  EXPECT_HAS(complaint({{{to_one}, {to_one}}, {{from_zero}, {from_zero}}}), "adds what it has");
  EXPECT_HAS(complaint({{{to_one, to_one}}, {{from_zero, from_zero}}}), "receives a range twice");
  EXPECT_HAS(complaint({{{{Kind::send, 1, {8, 3}}}}, {{}}}), "beyond the data");
  EXPECT_HAS(complaint({{{{Kind::send, 1, {3, 0}}}}, {{}}}), "no numbers");
  EXPECT_HAS(complaint({{{{Kind::send, 2, {3, 1}}}}, {{}}}), "no such peer");
}

}  // namespace
}  // namespace isobar::comm
