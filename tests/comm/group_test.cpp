#include "isobar/comm/group.hpp"

#include <set>

#include <gtest/gtest.h>

#include "isobar/comm/group_register.hpp"

namespace isobar::comm {
namespace {

TEST(Group, APartKeepsNumbersInTheWorldAndCountsItsNodesAnew) {
  const Group whole{.rank = 3, .size = 5, .nodes = {0, 0, 1, 1, 2}, .members = {10, 11, 12, 13, 14}, .epoch = 6};
  const int ranks[] = {4, 3, 0, 2};
  const Group part = part_of(whole, ranks);
  EXPECT_EQ(part.rank, 1);
  EXPECT_EQ(part.size, 4);
  EXPECT_EQ(part.nodes, (std::vector{0, 1, 2, 1}));
  EXPECT_EQ(part.members, (std::vector{14, 13, 10, 12}));
  EXPECT_EQ(part.epoch, 6u);
  EXPECT_EQ(ranks_of_node(whole), (std::vector{2, 3}));
  EXPECT_EQ(ranks_of_node(part), (std::vector{1, 3}));
}

TEST(Group, WithoutListsEveryRankHasItsOwnNodeAndNumber) {
  const Group whole{.rank = 1, .size = 3};
  const int ranks[] = {2, 1};
  const Group part = part_of(whole, ranks);
  EXPECT_EQ(part.nodes, (std::vector{0, 1}));
  EXPECT_EQ(part.members, (std::vector{2, 1}));
  EXPECT_EQ(ranks_of_node(whole), std::vector{1});
}

// Rank 1 makes two groups of the same list before rank 2 makes its first.
TEST(Group, MembersGetEqualNumbersInWhateverOrderTheyCome) {
  GroupRegister numbers;
  const auto of = [](int rank) { return Group{.rank = rank, .size = 2, .members = {1, 2}}; };
  const std::uint64_t first = numbers.number(0, of(0)), second = numbers.number(0, of(0));
  const std::uint64_t other = numbers.number(0, {.rank = 0, .size = 2, .members = {2, 1}});
  EXPECT_EQ(numbers.number(0, of(1)), first);
  EXPECT_EQ(numbers.number(0, of(1)), second);
  const std::set all{std::uint64_t{0}, first, second, other, numbers.number(first, of(0))};
  EXPECT_EQ(all.size(), 5u);
}

}  // namespace
}  // namespace isobar::comm
