#include "isobar/ops/loss.hpp"

#include <cmath>
#include <omp.h>

#include <gtest/gtest.h>

#include "isobar/base/random.hpp"

#include "tests/ops/direct.hpp"
#include "tests/ops/failure.hpp"

namespace isobar::ops {
namespace {

TEST(Loss, ByHand) {
  Direct mse("mse", {{2, 2}, {2, 2}}), mae("mae", {{2, 2}, {2, 2}});
  for (Direct* loss : {&mse, &mae}) {
    std::ranges::copy(std::vector{1.f, 2.f, 3.f, 4.f}, loss->x(0).begin());
    std::ranges::copy(std::vector{1.f, 0.f, 6.f, 3.f}, loss->x(1).begin());
    loss->dy()[0] = 1;
    loss->forward();
    loss->backward();
    EXPECT_TRUE(loss->intact());
    EXPECT_TRUE(loss->op->is_loss());
  }
  EXPECT_FLOAT_EQ(mse.y()[0], (0 + 4 + 9 + 1) / 4.f);
  EXPECT_FLOAT_EQ(mae.y()[0], (0 + 2 + 3 + 1) / 4.f);
  EXPECT_EQ(std::vector(mse.dx(0).begin(), mse.dx(0).end()), (std::vector{0.f, 1.f, -1.5f, 0.5f}));
  EXPECT_EQ(std::vector(mae.dx(0).begin(), mae.dx(0).end()), (std::vector{0.f, 0.25f, -0.25f, 0.25f}));
}

// A rank with 2 samples and a padding row, of 5 samples in all: the loss is its share of the mean.
TEST(Loss, PaddingRowsCountNothing) {
  for (const char* spec : {"mse", "mae", "softmax_cross_entropy"}) {
    const bool classes = std::string(spec) == "softmax_cross_entropy";
    Direct loss(spec, {{3, 4}, classes ? Shape{3} : Shape{3, 4}});
    for (int i = 0; i < 12; ++i) loss.x(0)[static_cast<std::size_t>(i)] = static_cast<float>(i % 5);
    std::ranges::fill(loss.x(1), 1.0f);
    loss.x(1).back() = -77;  // no class, but in the padding
    std::fill(loss.x(0).begin() + 8, loss.x(0).end(), NAN);
    loss.moment.rows = 2;
    loss.moment.total = 5;
    loss.dy()[0] = 1;
    loss.forward();
    loss.backward();
    const float share = loss.y()[0];
    EXPECT_TRUE(std::isfinite(share)) << spec;
    for (std::size_t i = 8; i < 12; ++i) EXPECT_EQ(loss.dx(0)[i], 0) << spec;
    EXPECT_NE(loss.dx(0)[0], 0) << spec;
    loss.moment.total = 2;
    loss.forward();
    EXPECT_FLOAT_EQ(share, loss.y()[0] * 2 / 5) << spec;
  }
}

TEST(Loss, BitwiseTheSameForAnyNumberOfThreads) {
  const std::int64_t length = 100003;
  const Random random(1);
  std::vector<float> seen;
  const int threads = omp_get_max_threads();
  for (const int count : {1, 2, 3}) {
    omp_set_num_threads(count);
    Direct loss("mse", {{1, length}, {1, length}});
    for (std::size_t i = 0; i < static_cast<std::size_t>(length); ++i) {
      loss.x(0)[i] = static_cast<float>(random.uniform(2 * i));
      loss.x(1)[i] = static_cast<float>(random.uniform(2 * i + 1));
    }
    loss.forward();
    seen.push_back(loss.y()[0]);
  }
  omp_set_num_threads(threads);
  EXPECT_EQ(seen[0], seen[1]);
  EXPECT_EQ(seen[0], seen[2]);
  EXPECT_NEAR(seen[0], 1.0 / 6, 0.01) << "the mean square difference of two uniform numbers";
}

TEST(SoftmaxCrossEntropy, StaysFiniteForLargeLogits) {
  Direct loss("softmax_cross_entropy", {{1, 2}, {1}});
  std::ranges::copy(std::vector{1000.f, -1000.f}, loss.x(0).begin());
  loss.x(1)[0] = 1;
  loss.dy()[0] = 1;
  loss.forward();
  loss.backward();
  EXPECT_FLOAT_EQ(loss.y()[0], 2000);
  EXPECT_FLOAT_EQ(loss.dx(0)[0], 1);
  EXPECT_FLOAT_EQ(loss.dx(0)[1], -1);
}

TEST(SoftmaxCrossEntropy, RefusesWhatIsNoClass) {
  for (const float wrong : {3.0f, -1.0f, 0.5f, NAN}) {
    Direct loss("softmax_cross_entropy", {{2, 4, 3}, {2, 4}});
    std::ranges::fill(loss.x(0), 0.0f);
    std::ranges::fill(loss.x(1), 2.0f);
    loss.x(1)[6] = wrong;
    EXPECT_EQ(
        failure([&] { loss.forward(); }),
        fmt::format("target {} of row 1, position 2 is no class; valid: whole numbers from 0 to 2 (3 classes)", wrong));
  }
}

TEST(Loss, RefusesShapesThatDoNotGoTogether) {
  EXPECT_EQ(failure([] {
              Direct("mse", {{2, 3}, {2, 4}});
            }),
            "prediction is 2x3, target is 2x4: the shapes must be equal");
  EXPECT_EQ(failure([] {
              Direct("softmax_cross_entropy", {{2, 5, 3}, {2, 4}});
            }),
            "prediction = 2x5x3 needs one target per position, 2x5, not 2x4");
  EXPECT_EQ(failure([] {
              Direct("softmax_cross_entropy(weights=[1, 2])", {{2, 3}, {2}});
            }),
            "weights has 2 numbers, prediction = 2x3 has 3 classes");
}

}  // namespace
}  // namespace isobar::ops
