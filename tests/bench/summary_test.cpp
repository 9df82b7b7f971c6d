#include "isobar/bench/summary.hpp"

#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace isobar::bench {
namespace {

TEST(Statistics, MedianOfOddAndEvenCounts) {
  EXPECT_EQ(summarize(std::vector<double>{3, 1, 2}).median, 2);
  EXPECT_EQ(summarize(std::vector<double>{4, 1, 2, 3}).median, 2.5);
  EXPECT_EQ(summarize(std::vector<double>{7}).low, 7);
}

// Binomial(n, 1/2): the interval between the k-th smallest and largest covers the median with at least 95 %.
TEST(Statistics, IntervalIsThatOfTheBinomialTable) {
  const auto interval = [](int n) {
    std::vector<double> values(static_cast<std::size_t>(n));
    std::iota(values.begin(), values.end(), 1.0);
    const Summary s = summarize(values);
    return std::pair(s.low, s.high);
  };
  EXPECT_EQ(interval(5), std::pair(1.0, 5.0));  // too few: the whole range
  EXPECT_EQ(interval(6), std::pair(1.0, 6.0));
  EXPECT_EQ(interval(10), std::pair(2.0, 9.0));
  EXPECT_EQ(interval(20), std::pair(6.0, 15.0));
  EXPECT_EQ(interval(30), std::pair(10.0, 21.0));
}

}  // namespace
}  // namespace isobar::bench
