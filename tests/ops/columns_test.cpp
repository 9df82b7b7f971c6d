#include "isobar/ops/columns.hpp"

#include <cmath>
#include <omp.h>

#include <gtest/gtest.h>

namespace isobar::ops {
namespace {

TEST(Columns, SumsDoNotDependOnThreads) {
  constexpr std::int64_t rows = 70001, width = 3;
  std::vector<float> x(rows * width);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i));
  const int threads = omp_get_max_threads();
  std::vector<float> one(width), three(width);
  omp_set_num_threads(1);
  sum_rows(rows, width, x.data(), one.data());
  omp_set_num_threads(3);
  sum_rows(rows, width, x.data(), three.data());
  omp_set_num_threads(threads);
  EXPECT_EQ(one, three);
  for (std::size_t c = 0; c < width; ++c) {
    double sum = 0;
    for (std::size_t r = 0; r < rows; ++r) sum += x[r * width + c];
    EXPECT_NEAR(one[c], sum, 1e-4);
  }
}

TEST(Columns, NoRowsSumToZero) {
  std::vector<float> sums(2, 9);
  sum_rows(0, 2, nullptr, sums.data());
  EXPECT_EQ(sums, (std::vector<float>{0, 0}));
}

}  // namespace
}  // namespace isobar::ops
