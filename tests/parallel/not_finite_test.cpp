#include "isobar/parallel/not_finite.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "tests/parallel/plain_replica.hpp"

namespace isobar::parallel {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();

TEST(AllFinite, FindsOneBadNumberAnywhere) {
  for (const std::size_t length : {1, 2, 15, 16, 17, 100, 16384, 16385, 50000}) {
    std::vector<float> numbers(length, 1.5f);
    ASSERT_TRUE(all_finite(numbers));
    for (const std::size_t at : {std::size_t{0}, length / 2, length - 1})
      for (const float bad : {infinity, -infinity, nan, -nan, std::bit_cast<float>(0x7f80'0001u)}) {
        numbers[at] = bad;
        EXPECT_FALSE(all_finite(numbers)) << length << " at " << at;
        numbers[at] = 1.5f;
      }
  }
  EXPECT_TRUE(all_finite({}));
}

TEST(AllFinite, TheLargestAndTheSmallestAreFinite) {
  using Limits = std::numeric_limits<float>;
  const std::vector<float> numbers{Limits::max(), Limits::lowest(), Limits::denorm_min(), -Limits::denorm_min(), -0.0f};
  EXPECT_TRUE(all_finite(numbers));
}

TEST(Extents, AreThoseOfTheFiniteNumbers) {
  EXPECT_EQ(extent_of(std::vector<float>{3, -2, 1}).str(), "from -2 to 3");
  EXPECT_EQ(extent_of(std::vector<float>{nan, 5, infinity, 4}).str(), "2 of 4 not finite, the others from 4 to 5");
  EXPECT_EQ(extent_of(std::vector<float>{nan, infinity}).str(), "all 2 not finite");
}

TEST(FiniteSearches, NameTheFirstParameter) {
  trials::PlainReplica replica({{10}, {20}, {5}});
  replica[1].gradient[3] = -infinity;
  replica[2].gradient[0] = nan;
  FiniteSearch search;
  search.look({.loss = 0.5});
  search.look(replica, replica.gradients(), 0, 1, 1);
  EXPECT_TRUE(search.good());
  EXPECT_NO_THROW(search.raise());
  search.look(replica, replica.gradients(), 1, 3, 1);
  EXPECT_FALSE(search.good());
  try {
    search.raise(1);
    FAIL() << "nothing was thrown";
  } catch (const NotFinite& found) {
    EXPECT_EQ(found.part, "the gradient of 'p1'");
    EXPECT_EQ(found.parameter, 1);
    EXPECT_EQ(found.updated, 1);
    EXPECT_STREQ(found.what(), "the gradient of 'p1': 1 of 20 not finite, the others from 0 to 0");
  }
}

TEST(FiniteSearches, TellTheLossFirstAndNothingWhenOff) {
  trials::PlainReplica replica({{10}, {5}});
  replica[0].gradient[3] = nan;
  FiniteSearch search, off(false), statistics;
  search.look({.loss = std::nan("")});
  search.look(replica, replica.gradients(), 0, 1, 1);
  EXPECT_THROW(search.raise(), NotFinite);
  search.begin();
  EXPECT_TRUE(search.good());
  off.look({.loss = std::nan("")});
  off.look(replica, replica.gradients(), 0, 1, 1);
  EXPECT_TRUE(off.good());
  statistics.look({.loss = 1, .bad = 2});
  EXPECT_FALSE(statistics.good());
}

}  // namespace
}  // namespace isobar::parallel
