#include "isobar/ops/reduction.hpp"

#include <cmath>
#include <omp.h>

#include <gtest/gtest.h>

#include "isobar/base/random.hpp"

#include "tests/ops/direct.hpp"

namespace isobar::ops {
namespace {

std::vector<float> copy(std::span<const float> s) { return {s.begin(), s.end()}; }

TEST(Reduce, AllAxesGiveAScalar) {
  EXPECT_EQ(Direct("reduce(axes=[0, 1])", {{2, 3}}).out[0], Shape{});
  EXPECT_EQ(Direct("reduce(axes=[0, 1], keep=true)", {{2, 3}}).out[0], (Shape{1, 1}));
  EXPECT_EQ(Direct("reduce", {{2, 3, 4}}).out[0], (Shape{2}));
}

TEST(Reduce, ExtremesSendTheGradientToTheFirst) {
  for (const char* spec : {"reduce(kind=max)", "reduce(kind=min)"}) {
    Direct f(spec, {{1, 20}});
    std::ranges::fill(f.x(0), 0.0f);
    f.x(0)[3] = f.x(0)[12] = std::string(spec) == "reduce(kind=max)" ? 2.0f : -2.0f;
    f.forward();
    f.dy()[0] = 5;
    f.backward();
    std::vector<float> expected(20, 0.0f);
    expected[3] = 5;
    EXPECT_EQ(copy(f.dx(0)), expected) << spec;
    EXPECT_TRUE(f.intact());
  }
}

TEST(Reduce, ProductsWithZeros) {
  Direct f("reduce(kind=prod, axes=[1])", {{3, 3}});
  std::ranges::copy(std::vector{2.f, 3.f, 4.f, 2.f, 0.f, 4.f, 0.f, 0.f, 4.f}, f.x(0).begin());
  f.forward();
  EXPECT_EQ(copy(f.y()), (std::vector{24.f, 0.f, 0.f}));
  std::ranges::fill(f.dy(), 1.0f);
  f.backward();
  EXPECT_EQ(copy(f.dx(0)), (std::vector{12.f, 8.f, 6.f, 0.f, 8.f, 0.f, 0.f, 0.f, 0.f}));
}

TEST(Reduce, LogSumExpStaysFinite) {
  Direct f("reduce(kind=log_sum_exp)", {{1, 3}});
  std::ranges::copy(std::vector{1000.f, 1000.f, -1000.f}, f.x(0).begin());
  f.forward();
  EXPECT_FLOAT_EQ(f.y()[0], 1000 + std::log(2.f));
}

// Long runs are cut, whatever the order of axes; the sums must not depend on which thread takes which part.
TEST(Reduce, BitwiseTheSameForAnyNumberOfThreads) {
  const Random random(1);
  const int threads = omp_get_max_threads();
  for (const char* spec : {"reduce(axes=[0])", "reduce(axes=[1])", "reduce(axes=[0, 1])", "reduce(axes=[0, 2])"}) {
    std::vector<std::vector<float>> seen;
    for (const int count : {1, 2, 3}) {
      omp_set_num_threads(count);
      Direct f(spec, {{600, 70, 3}});
      for (std::size_t i = 0; i < f.x(0).size(); ++i) f.x(0)[i] = static_cast<float>(random.uniform(i) - 0.3);
      f.forward();
      EXPECT_TRUE(f.intact());
      seen.push_back(copy(f.y()));
      const double mean = 0.2 * 600 * 70 * 3 / static_cast<double>(seen[0].size());
      for (const float y : seen[0]) EXPECT_NEAR(y, mean, 0.6 * mean + 10) << spec;
    }
    EXPECT_EQ(seen[0], seen[1]) << spec;
    EXPECT_EQ(seen[0], seen[2]) << spec;
  }
  omp_set_num_threads(threads);
}

// One run longer than a part: its parts must meet without gap or overlap.
TEST(Reduce, CountsEveryElementOnce) {
  for (const std::int64_t length : {1L, 7L, 16383L, 16385L, 100003L}) {
    Direct f("reduce(axes=[1])", {{2, length}});
    std::ranges::fill(f.x(0), 1.0f);
    f.forward();
    EXPECT_EQ(f.y()[0], static_cast<float>(length));
    EXPECT_EQ(f.y()[1], static_cast<float>(length));
  }
}

}  // namespace
}  // namespace isobar::ops
