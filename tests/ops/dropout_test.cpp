#include <omp.h>

#include <gtest/gtest.h>

#include "isobar/base/error.hpp"

#include "tests/ops/direct.hpp"

namespace isobar::ops {
namespace {

// y for a batch of ones with these samples.
std::vector<float> drawn(const std::vector<std::int64_t>& samples, std::int64_t length, std::int64_t epoch = 3,
                         std::uint64_t site = 7) {
  const auto rows = static_cast<std::int64_t>(samples.size());
  Direct dropout("dropout(rate=0.25)", {{rows, length}});
  dropout.moment.seed = 11;
  dropout.moment.epoch = epoch;
  dropout.moment.samples = samples;
  dropout.site = site;
  std::ranges::fill(dropout.x(0), 1.0f);
  std::ranges::fill(dropout.dy(), 1.0f);
  dropout.forward();
  dropout.backward();
  EXPECT_TRUE(dropout.intact());
  EXPECT_TRUE(std::ranges::equal(dropout.dx(0), dropout.y())) << "one mask for forward and backward";
  return {dropout.y().begin(), dropout.y().end()};
}

TEST(Dropout, MaskDependsOnTheSampleOnly) {
  const std::int64_t length = 1001;
  const auto together = drawn({40, 41, 42}, length), other_rank = drawn({42, 7}, length);
  EXPECT_TRUE(std::equal(other_rank.begin(), other_rank.begin() + length, together.begin() + 2 * length));
  EXPECT_FALSE(std::equal(together.begin(), together.begin() + length, together.begin() + length));
  EXPECT_NE(drawn({40}, length, 3), drawn({40}, length, 4)) << "another epoch, another mask";
  EXPECT_NE(drawn({40}, length, 3, 7), drawn({40}, length, 3, 8)) << "another place, another mask";
}

TEST(Dropout, MaskDoesNotDependOnThreads) {
  const int threads = omp_get_max_threads();
  omp_set_num_threads(1);
  const auto alone = drawn({5, 6}, 50001);
  omp_set_num_threads(3);
  const auto shared = drawn({5, 6}, 50001);
  omp_set_num_threads(threads);
  EXPECT_EQ(alone, shared);
}

TEST(Dropout, KeepsTheMean) {
  const auto y = drawn({1}, 100000);
  const auto kept = std::ranges::count_if(y, [](float v) { return v != 0; });
  EXPECT_NEAR(static_cast<double>(kept), 75000, 5 * 137) << "within five standard deviations";
  for (const float v : y) ASSERT_TRUE(v == 0 || std::abs(v - 4.0f / 3) < 1e-6f);
}

TEST(Dropout, IsAViewWhenNothingIsDropped) {
  Direct dropout("dropout", {{2, 4}}), none("dropout(rate=0)", {{2, 4}});
  EXPECT_FALSE(dropout.op->forward({cpu_engine(), Phase::inference}, dropout.in).run);
  EXPECT_FALSE(none.op->forward(none.setting(), none.in).run);
  EXPECT_TRUE(dropout.op->forward(dropout.setting(), dropout.in).run);
}

TEST(Dropout, RefusesRateOne) {
  EXPECT_THROW(make_operator("dropout(rate=1)"), UsageError);
  EXPECT_THROW(make_operator("dropout(rate=-0.1)"), UsageError);
}

}  // namespace
}  // namespace isobar::ops
