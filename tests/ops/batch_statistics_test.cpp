#include "isobar/ops/batch_statistics.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace isobar::ops {
namespace {

// As a sum over ranks does it.
BatchStatistics joined(const std::vector<BatchStatistics>& ranks) {
  const auto numbers = static_cast<std::size_t>(sums_with_count(std::ssize(ranks[0].mean)));
  std::vector<double> all(numbers), own(numbers);
  for (const BatchStatistics& rank : ranks) {
    pack(rank, own);
    for (std::size_t i = 0; i < numbers; ++i) all[i] += own[i];
  }
  return unpack(all);
}

TEST(BatchStatistics, OfRanksAreThoseOfAllPositions) {
  const std::vector<float> values{1, 10, 2, 10, 6, 10, 3, 10, 13, 10};
  const BatchStatistics all = batch_statistics(5, 2, values.data());
  const BatchStatistics parts = joined({batch_statistics(2, 2, values.data()), batch_statistics(0, 2, values.data()),
                                        batch_statistics(3, 2, values.data() + 4)});
  EXPECT_EQ(all.mean, (std::vector<double>{5, 10}));
  EXPECT_DOUBLE_EQ(all.variance[0], 18.8);
  EXPECT_EQ(parts.count, 5);
  for (std::size_t c = 0; c < 2; ++c) {
    EXPECT_DOUBLE_EQ(parts.mean[c], all.mean[c]);
    EXPECT_NEAR(parts.variance[c], all.variance[c], 1e-13);
  }
}

TEST(BatchStatistics, CountsOfManyRanksAreExact) {
  for (const std::int64_t count : {std::int64_t{0}, std::int64_t{1}, (std::int64_t{1} << 24) + 1,
                                   std::int64_t{255} * 257 * 65537 - 1, (std::int64_t{1} << 40) + 12345}) {
    const std::vector<BatchStatistics> ranks(1000, {count, {0.5}, {0}});
    EXPECT_EQ(joined(ranks).count, 1000 * count);
  }
}

// A deviation of 64 ulps: at this mean floats hardly tell values apart, and still the variance keeps four digits.
TEST(BatchStatistics, AMeanFarFromZeroCostsNoDigitsThatFloatsHave) {
  for (const float mean : {1e2f, 1e5f, 1e7f}) {
    const float step = 64 * (std::nextafter(mean, 2 * mean) - mean);
    const std::vector<float> values{mean - step, mean + step, mean - 3 * step, mean + 3 * step};
    const BatchStatistics both = joined({batch_statistics(2, 1, values.data()), batch_statistics(2, 1, &values[2])});
    EXPECT_NEAR(both.mean[0], mean, 1e-3 * step);
    EXPECT_NEAR(both.variance[0] / (5.0 * step * step), 1, 1e-4) << mean;
  }
}

TEST(BatchStatistics, NeverHaveANegativeVariance) {
  EXPECT_EQ(unpack(std::vector<double>{4, 3.9999999999999, 4}).variance[0], 0);
  EXPECT_EQ(unpack(std::vector<double>{0, 0, 0}).count, 0);
}

}  // namespace
}  // namespace isobar::ops
