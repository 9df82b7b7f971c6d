#include "isobar/ops/joint_sums.hpp"

#include <gtest/gtest.h>

namespace isobar::ops {
namespace {

TEST(JointSums, CountsOfManyRanksAreExact) {
  for (const std::int64_t count : {std::int64_t{0}, std::int64_t{1}, (std::int64_t{1} << 24) + 1,
                                   std::int64_t{255} * 257 * 65537 - 1, (std::int64_t{1} << 40) + 12345}) {
    const std::function<void(std::span<float>)> many = [](std::span<float> numbers) {
      for (float& v : numbers) v *= 60000;
    };
    Moment moment;
    moment.sum = &many;
    std::vector<double> sums{0.5, -2};
    EXPECT_EQ(sum_over_ranks(moment, count, sums), count * 60000);
    EXPECT_EQ(sums, (std::vector<double>{30000, -120000}));
  }
}

TEST(JointSums, NeedsASum) {
  Moment moment;
  std::vector<double> sums(1);
  EXPECT_THROW(sum_over_ranks(moment, 1, sums), std::logic_error);
}

}  // namespace
}  // namespace isobar::ops
