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

// A rank with 2 of 5 samples and a padding row: the loss is its share of the mean.
TEST(Loss, PaddingRowsCountNothing) {
  for (const char* spec : {"mse", "mae", "smooth_l1", "sigmoid_cross_entropy", "softmax_cross_entropy",
                           "softmax_cross_entropy(reduction=weighted_mean)", "nll", "focal"}) {
    const std::string name = Spec(spec).name();
    const bool classes = name == "softmax_cross_entropy" || name == "nll" || name == "focal";
    Direct loss(spec, {{3, 4}, classes ? Shape{3} : Shape{3, 4}});
    for (int i = 0; i < 12; ++i) loss.x(0)[static_cast<std::size_t>(i)] = 0.5f + static_cast<float>(i % 5);
    std::ranges::fill(loss.x(1), 1.0f);
    loss.x(1).back() = -77;  // not a class, but in the padding
    std::fill(loss.x(0).begin() + 8, loss.x(0).end(), NAN);
    loss.moment.rows = 2;
    loss.moment.total = 5;
    loss.dy()[0] = 1;
    loss.forward();
    loss.backward();
    const float share = loss.y()[0];
    EXPECT_TRUE(std::isfinite(share)) << spec;
    for (std::size_t i = 8; i < 12; ++i) EXPECT_EQ(loss.dx(0)[i], 0) << spec;
    EXPECT_NE(loss.dx(0)[1], 0) << spec;
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
  for (const float wrong : {3.0f, -2.0f, 0.5f, NAN}) {
    Direct loss("softmax_cross_entropy", {{2, 4, 3}, {2, 4}});
    std::ranges::fill(loss.x(0), 0.0f);
    std::ranges::fill(loss.x(1), 2.0f);
    loss.x(1)[6] = wrong;
    EXPECT_EQ(
        failure([&] { loss.forward(); }),
        fmt::format("target {} of row 1, position 2 is no class; valid: whole numbers from 0 to 2 (3 classes)", wrong));
  }
}

// Sums count positions, not samples: neither the number of samples nor ignored positions divide them.
TEST(ClassLoss, ReductionsByHand) {
  const auto loss = [](const std::string& arguments, double total) {
    Direct f("nll(" + arguments + ")", {{1, 3, 2}, {1, 3}});
    std::ranges::copy(std::vector{-1.f, -2.f, -3.f, -4.f, -5.f, -6.f}, f.x(0).begin());
    std::ranges::copy(std::vector{0.f, 1.f, -1.f}, f.x(1).begin());
    f.moment.total = total;
    f.dy()[0] = 1;
    f.forward();
    f.backward();
    EXPECT_TRUE(f.intact());
    EXPECT_EQ(f.dx(0)[4], 0) << "ignored";
    return f.y()[0];
  };
  EXPECT_FLOAT_EQ(loss("weights=[0.5, 2]", 1), (0.5f * 1 + 2 * 4) / 3);
  EXPECT_FLOAT_EQ(loss("weights=[0.5, 2], reduction=sum, scale=0.1", 7), 0.1f * (0.5f * 1 + 2 * 4));
  EXPECT_FLOAT_EQ(loss("weights=[0.5, 2], reduction=weighted_mean", 1), (0.5f * 1 + 2 * 4) / 2.5f);
  EXPECT_FLOAT_EQ(loss("weights=[0.5, 2], reduction=weighted_mean", 4), (0.5f * 1 + 2 * 4) / 2.5f / 4);
  EXPECT_FLOAT_EQ(loss("weights=[0, 2], reduction=nonzero_mean", 1), 2 * 4);
  EXPECT_EQ(loss("weights=[0, 0], reduction=weighted_mean", 1), 0) << "nothing counts";
}

TEST(Focal, StaysFiniteWhereThePredictionIsCertain) {
  Direct f("focal(gamma=0.5)", {{2, 2}, {2}});
  std::ranges::copy(std::vector{200.f, -200.f, 200.f, -200.f}, f.x(0).begin());
  std::ranges::copy(std::vector{0.f, 1.f}, f.x(1).begin());
  f.dy()[0] = 1;
  f.forward();
  f.backward();
  EXPECT_FLOAT_EQ(f.y()[0], 400 / 2.f);
  EXPECT_EQ(f.dx(0)[0], 0);
  EXPECT_FLOAT_EQ(f.dx(0)[2], 0.5f);
}

TEST(SigmoidCrossEntropy, StaysFiniteForLargeLogits) {
  Direct f("sigmoid_cross_entropy(positive_weight=3)", {{1, 3}, {1, 3}});
  std::ranges::copy(std::vector{-500.f, 500.f, 500.f}, f.x(0).begin());
  std::ranges::copy(std::vector{1.f, 0.f, -1.f}, f.x(1).begin());
  f.dy()[0] = 1;
  f.forward();
  f.backward();
  EXPECT_FLOAT_EQ(f.y()[0], 3 * 500 + 500);
  EXPECT_EQ(std::vector(f.dx(0).begin(), f.dx(0).end()), (std::vector{-3.f, 1.f, 0.f}));
}

// A frame without a box: variant a still has the terms of empty cells, variant b is zero.
TEST(DetectionLoss, FramesWithoutABox) {
  for (const char* spec : {"detection_loss", "detection_loss(variant=b)"}) {
    Direct f(spec, {{2, 2, 1, 7}, {2, 2, 1, 7}});
    std::ranges::fill(f.x(0), 0.5f);
    std::ranges::fill(f.x(1), 0.0f);
    f.dy()[0] = 1;
    f.moment.rows = 1;
    f.moment.total = 1;
    f.forward();
    f.backward();
    EXPECT_TRUE(f.intact());
    const bool b = std::string(spec) != "detection_loss";
    EXPECT_FLOAT_EQ(f.y()[0], b ? 0 : -0.5f * 2 * std::log(0.5f + 1e-5f)) << spec;
    for (std::size_t i = 0; i < 28; ++i) EXPECT_EQ(f.dx(0)[i] != 0, !b && (i == 5 || i == 12)) << spec << i;
  }
}

TEST(Loss, RefusesShapesThatDoNotGoTogether) {
  EXPECT_EQ(
      failure([] {
        Direct("detection_loss", {{2, 3, 6}, {2, 3, 6}});
      }),
      "prediction = 2x3x6 must be [batch, grid..., channels] with x, y, w, h, object, none and at least one class");
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
