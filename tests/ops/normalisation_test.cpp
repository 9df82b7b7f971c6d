#include <cmath>

#include <gtest/gtest.h>

#include "tests/ops/direct.hpp"
#include "tests/ops/failure.hpp"

namespace isobar::ops {
namespace {

TEST(Softmax, AnyAxisAndNoOther) {
  Direct softmax("softmax(axis=0)", {{2, 2}});
  std::ranges::copy(std::vector{0.f, 1.f, 0.f, 0.f}, softmax.x(0).begin());
  softmax.forward();
  EXPECT_FLOAT_EQ(softmax.y()[0], 0.5f);
  EXPECT_FLOAT_EQ(softmax.y()[1], 1 / (1 + std::exp(-1.f)));
  EXPECT_EQ(failure([] { Direct("softmax(axis=2)", {{2, 2}}); }), "axis = 2 is not an axis of x = 2x2");
  EXPECT_EQ(failure([] { Direct("log_softmax(axis=-3)", {{2, 2}}); }), "axis = -3 is not an axis of x = 2x2");
}

// The logarithm is finite where the probability itself would underflow.
TEST(LogSoftmax, DoesNotVanish) {
  Direct softmax("log_softmax", {{1, 2}});
  std::ranges::copy(std::vector{0.f, 1000.f}, softmax.x(0).begin());
  softmax.forward();
  EXPECT_NEAR(softmax.y()[0], -1000, 1e-3);
  EXPECT_NEAR(softmax.y()[1], 0, 1e-5);
}

TEST(Lrn, DividesByTheWholeWindowAlsoAtTheBorder) {
  Direct across("lrn(size=3, alpha=3, beta=1)", {{1, 2}});
  std::ranges::copy(std::vector{1.f, 2.f}, across.x(0).begin());
  across.forward();
  EXPECT_FLOAT_EQ(across.y()[0], 1 / 6.f);
  EXPECT_FLOAT_EQ(across.y()[1], 2 / 6.f);
  Direct within("lrn(size=3, alpha=9, beta=1, region=within)", {{1, 1, 2, 1}});
  std::ranges::copy(std::vector{1.f, 2.f}, within.x(0).begin());
  within.forward();
  EXPECT_FLOAT_EQ(within.y()[0], 1 / 6.f);
  EXPECT_TRUE(across.intact() && within.intact());
}

TEST(Lrn, Refuses) {
  EXPECT_EQ(failure([] {
              Direct("lrn(region=within)", {{1, 4, 2}});
            }),
            "x = 1x4x2 must be [batch, height, width, channels]");
  EXPECT_THROW(make_operator("lrn(size=0)"), UsageError);
  EXPECT_THROW(make_operator("lrn(region=beside)"), UsageError);
}

TEST(LayerNorm, WeightsHaveTheShapeOfARow) {
  const auto norm = make_operator("layer_norm(axis=-2)");
  const std::vector<Shape> x{{2, 3, 4, 5}};
  ASSERT_EQ(norm->parameters(x).size(), 2u);
  EXPECT_EQ(norm->parameters(x)[0].shape, (Shape{4, 5}));
  EXPECT_EQ(failure([] { Direct("layer_norm(axis=0)", {{2, 3}}); }), "axis = 0 of x = 2x3 must come after the batch");
}

}  // namespace
}  // namespace isobar::ops
