#include <gtest/gtest.h>

#include "tests/ops/direct.hpp"
#include "tests/ops/failure.hpp"

namespace isobar::ops {
namespace {

std::vector<float> deconv_listed(std::span<const float> s) { return {s.begin(), s.end()}; }

Shape output(const char* spec, const Shape& x) { return Direct(spec, {x}).out[0]; }

TEST(Deconv, ByHand) {
  Direct deconv("deconv(filters=1, kernel=3, stride=2)", {{1, 2, 1}});
  std::ranges::copy(std::vector{1.f, 10.f}, deconv.x(0).begin());
  std::ranges::copy(std::vector{1.f, 2.f, 3.f}, deconv.x(1).begin());
  std::ranges::copy(std::vector{100.f}, deconv.x(2).begin());
  deconv.forward();
  EXPECT_EQ(deconv_listed(deconv.y()), (std::vector{101.f, 102.f, 113.f, 120.f, 130.f}));
  std::ranges::copy(std::vector{1.f, 0.f, 2.f, 0.f, 3.f}, deconv.dy().begin());
  deconv.backward();
  EXPECT_EQ(deconv_listed(deconv.dx(0)), (std::vector{7.f, 11.f}));
  EXPECT_EQ(deconv_listed(deconv.dx(1)), (std::vector{21.f, 0.f, 32.f}));
  EXPECT_EQ(deconv_listed(deconv.dx(2)), std::vector{6.f});
  EXPECT_TRUE(deconv.intact());
}

// TensorFlow's rule: input i reaches outputs 2i, 2i+1, 2i+2, cropped at the end.
TEST(Deconv, SameMultipliesTheExtentByTheStride) {
  EXPECT_EQ(output("deconv(filters=2, kernel=3, stride=2, padding=same)", {1, 5, 6, 3}), (Shape{1, 10, 12, 2}));
  EXPECT_EQ(output("deconv(filters=2, kernel=5, stride=2, padding=same)", {1, 3, 3, 3}), (Shape{1, 6, 6, 2}));
  EXPECT_EQ(output("deconv(filters=2, kernel=2, stride=4, padding=same)", {1, 3, 3, 3}), (Shape{1, 12, 12, 2}));
  Direct deconv("deconv(filters=1, kernel=3, stride=2, padding=same, bias=false)", {{1, 2, 1}});
  std::ranges::copy(std::vector{1.f, 10.f}, deconv.x(0).begin());
  std::ranges::copy(std::vector{1.f, 2.f, 3.f}, deconv.x(1).begin());
  deconv.forward();
  EXPECT_EQ(deconv_listed(deconv.y()), (std::vector{1.f, 2.f, 13.f, 20.f}));
}

TEST(Deconv, WeightIsThatOfTheConvolutionItInverts) {
  const auto conv = make_operator("conv(filters=6, kernel=3)"), deconv = make_operator("deconv(filters=4, kernel=3)");
  const std::vector<Shape> x{{1, 8, 8, 4}}, y{{1, 6, 6, 6}};
  EXPECT_EQ(conv->parameters(x)[0].shape, deconv->parameters(y)[0].shape);
  EXPECT_EQ(output("deconv(filters=4, kernel=3)", y[0]), x[0]);
}

TEST(Deconv, CountsProducts) {
  const Direct deconv("deconv(filters=4, kernel=3, stride=2, padding=same)", {{1, 5, 5, 8}});
  EXPECT_EQ(deconv.op->forward(deconv.setting(), deconv.in).flops, 2.0 * 25 * 8 * 4 * 9);
}

TEST(Deconv, Refuses) {
  EXPECT_EQ(failure([] {
              Direct("deconv(filters=2, stride=2, output_padding=2)", {{1, 4, 1}});
            }),
            "output_padding 2 on axis 1 must be smaller than the stride of 2");
  EXPECT_EQ(failure([] {
              Direct("deconv(filters=2, padding=3)", {{1, 4, 1}});
            }),
            "padding 3 and 3 crop all of x = 1x4x1 on axis 1");
  EXPECT_EQ(failure([] {
              Direct("deconv(filters=2, groups=2)", {{1, 4, 3}});
            }),
            "groups = 2 does not divide the 3 channels of x");
  EXPECT_THROW(make_operator("deconv(filters=2, padding=same, output_padding=1)"), UsageError);
}

}  // namespace
}  // namespace isobar::ops
