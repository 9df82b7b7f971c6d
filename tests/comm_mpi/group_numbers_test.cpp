#include "isobar/comm_mpi/group_numbers.hpp"

#include <set>

#include <gtest/gtest.h>

#include "isobar/base/error.hpp"
#include "isobar/comm_mpi/tag_layout.hpp"

namespace isobar::comm_mpi {
namespace {

TEST(GroupNumbers, ANumberIsFreeWhenItsLastGroupIsGone) {
  GroupNumbers numbers(100, 8, 2);
  EXPECT_TRUE(numbers.take(70, 0));
  EXPECT_FALSE(numbers.take(70, 0));
  EXPECT_EQ(numbers.taken(0), (std::vector<std::uint64_t>{0, 1u << 6}));
  numbers.add(70, 3);
  numbers.drop(70, 0);
  EXPECT_FALSE(numbers.take(70, 0));
  numbers.drop(70, 3);
  EXPECT_TRUE(numbers.take(70, 0));
}

TEST(GroupNumbers, ASpoiltNumberIsNeverGivenAgain) {
  GroupNumbers numbers(4, 8, 2);
  EXPECT_TRUE(numbers.take(1, 0));
  numbers.spoil(1, 0);
  numbers.drop(1, 0);
  EXPECT_FALSE(numbers.take(1, 0));
}

TEST(GroupNumbers, ASpoiltNumberIsGoodInAnotherEpoch) {
  GroupNumbers numbers(4, 8, 2);
  EXPECT_TRUE(numbers.take(1, 2));
  numbers.spoil(1, 2);
  numbers.drop(1, 2);
  EXPECT_FALSE(numbers.take(1, 2));
  EXPECT_EQ(numbers.taken(2), (std::vector<std::uint64_t>{0b10}));
  EXPECT_FALSE(numbers.take(1, 10));
  EXPECT_TRUE(numbers.take(1, 3));
}

TEST(GroupNumbers, EpochsThatLookTheSameDoNotLiveTogether) {
  GroupNumbers numbers(4, 8, 2);
  ASSERT_TRUE(numbers.take(0, 0));
  EXPECT_THROW(numbers.add(0, 8), Error);
  numbers.add(0, 3);
  EXPECT_THROW(numbers.add(0, 11), Error);
  numbers.add(0, 3);
  numbers.drop(0, 3);
  EXPECT_THROW(numbers.add(0, 11), Error);
  numbers.drop(0, 3);
  numbers.add(0, 11);
}

TEST(GroupNumbers, RememberWhatWasSentWithThem) {
  GroupNumbers numbers(4, 8, 2);
  numbers.balance(1, 0)->sent(0);
  const int both[] = {0, 1};
  EXPECT_NE(numbers.balance(1, 0)->print(0, both), 0u);
  EXPECT_NE(numbers.balance(1, 8)->print(0, both), 0u) << "an epoch that messages cannot tell apart";
  EXPECT_EQ(numbers.balance(1, 1)->print(0, both), 0u);
  EXPECT_EQ(numbers.balance(2, 0)->print(0, both), 0u);
}

TEST(Balance, AddsUpToNothingWhenAllIsReceived) {
  std::vector<Balance> ranks;
  for (int rank = 0; rank < 3; ++rank) ranks.emplace_back(3);
  const int all[] = {0, 1, 2}, two[] = {2, 0};
  const auto print = [&](std::span<const int> members) {
    std::uint64_t sum = 0;
    for (const int rank : members) sum += ranks[static_cast<std::size_t>(rank)].print(rank, members);
    return sum;
  };
  EXPECT_EQ(print(all), 0u);
  for (int i = 0; i < 5; ++i) ranks[0].sent(1), ranks[1].received(0), ranks[2].sent(2), ranks[2].received(2);
  EXPECT_EQ(print(all), 0u);
  ranks[0].sent(1);
  EXPECT_NE(print(all), 0u);
  EXPECT_EQ(print(two), 0u) << "what others have not received is nothing to these";
  ranks[2].received(0);  // as many were sent as received, but not between the same ranks
  EXPECT_NE(print(all), 0u);
}

TEST(GroupNumbers, TheFirstThatIsFreeOnAllRanks) {
  EXPECT_EQ(first_free({{0b0011, 0}, {0b0101, 0}}, 80), 3);
  EXPECT_EQ(first_free({{~std::uint64_t{0}, 0b01}}, 80), 65);
  EXPECT_EQ(first_free({{0b1}, {0b10}}, 2), -1);
}

TEST(TagLayout, GroupEpochAndTagAreToldApartAndFit) {
  for (const std::int64_t largest : {(1 << 18) - 1, (1 << 21) - 1, (1 << 28) - 1, 0x7fffffff}) {
    const TagLayout layout(largest);
    EXPECT_GE(layout.groups(), 500);
    EXPECT_EQ(layout.communicator(layout.groups() - 1), layout.communicators() - 1);
    EXPECT_LE(layout.communicators(), largest < 1 << 20 ? 64 : largest < 1 << 22 ? 16 : 1);
    EXPECT_GE(layout.epochs(), 4u);
    const int most = layout.tag(layout.groups() - 1, layout.epochs() - 1, comm::tag_limit - 1);
    EXPECT_GT(most, 0);
    EXPECT_LE(most, largest);
    EXPECT_NE(layout.tag(1, 0, 0), layout.tag(0, 1, 0));
    EXPECT_NE(layout.tag(0, 0, comm::tag_limit - 1), layout.tag(1, 0, 0));
    EXPECT_NE(layout.tag(layout.groups() - 1, 0, 0), layout.tag(0, 1, 0));
    std::set<std::pair<int, int>> places;
    for (int group = 0; group < layout.groups(); ++group)
      for (std::uint32_t epoch = 0; epoch < 4; ++epoch)
        places.emplace(layout.communicator(group), layout.tag(group, epoch, 17));
    EXPECT_EQ(std::ssize(places), 4 * layout.groups()) << "no two share a communicator and a tag";
  }
  EXPECT_THROW(TagLayout(32767), Error);
}

}  // namespace
}  // namespace isobar::comm_mpi
