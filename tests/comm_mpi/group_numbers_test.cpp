#include "isobar/comm_mpi/group_numbers.hpp"

#include <gtest/gtest.h>

#include "isobar/base/error.hpp"
#include "isobar/comm_mpi/tag_layout.hpp"

namespace isobar::comm_mpi {
namespace {

TEST(GroupNumbers, ANumberIsFreeWhenItsLastGroupIsGone) {
  GroupNumbers numbers(100, 8);
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
  GroupNumbers numbers(4, 8);
  EXPECT_TRUE(numbers.take(1, 0));
  numbers.spoil(1, 0);
  numbers.drop(1, 0);
  EXPECT_FALSE(numbers.take(1, 0));
}

TEST(GroupNumbers, ASpoiltNumberIsGoodInAnotherEpoch) {
  GroupNumbers numbers(4, 8);
  EXPECT_TRUE(numbers.take(1, 2));
  numbers.spoil(1, 2);
  numbers.drop(1, 2);
  EXPECT_FALSE(numbers.take(1, 2));
  EXPECT_EQ(numbers.taken(2), (std::vector<std::uint64_t>{0b10}));
  EXPECT_FALSE(numbers.take(1, 10));
  EXPECT_TRUE(numbers.take(1, 3));
}

TEST(GroupNumbers, EpochsThatLookTheSameDoNotLiveTogether) {
  GroupNumbers numbers(4, 8);
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

TEST(GroupNumbers, TheFirstThatIsFreeOnAllRanks) {
  EXPECT_EQ(first_free({{0b0011, 0}, {0b0101, 0}}, 80), 3);
  EXPECT_EQ(first_free({{~std::uint64_t{0}, 0b01}}, 80), 65);
  EXPECT_EQ(first_free({{0b1}, {0b10}}, 2), -1);
}

TEST(TagLayout, GroupEpochAndTagAreToldApartAndFit) {
  for (const std::int64_t largest : {(1 << 18) - 1, (1 << 21) - 1, (1 << 28) - 1, 0x7fffffff}) {
    const TagLayout layout(largest);
    EXPECT_GE(layout.groups(), 8);
    EXPECT_GE(layout.epochs(), 4u);
    const int most = layout.tag(layout.groups() - 1, layout.epochs() - 1, comm::tag_limit - 1);
    EXPECT_GT(most, 0);
    EXPECT_LE(most, largest);
    EXPECT_NE(layout.tag(1, 0, 0), layout.tag(0, 1, 0));
    EXPECT_NE(layout.tag(0, 0, comm::tag_limit - 1), layout.tag(1, 0, 0));
    EXPECT_NE(layout.tag(layout.groups() - 1, 0, 0), layout.tag(0, 1, 0));
  }
  EXPECT_THROW(TagLayout(32767), Error);
}

}  // namespace
}  // namespace isobar::comm_mpi
