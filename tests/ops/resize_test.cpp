// Numbers from ONNX's own examples of Resize, to check the reference as well.
#include <numeric>

#include <gtest/gtest.h>

#include "tests/ops/direct.hpp"
#include "tests/ops/failure.hpp"

namespace isobar::ops {
namespace {

// x counts from 1.
std::vector<float> resized(const char* spec, const Shape& x) {
  Direct resize(spec, {x});
  std::iota(resize.x(0).begin(), resize.x(0).end(), 1.f);
  resize.forward();
  EXPECT_TRUE(resize.intact());
  return {resize.y().begin(), resize.y().end()};
}

void expect_near(const std::vector<float>& got, const std::vector<double>& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(got[i], expected[i], 1e-5) << i;
}

TEST(Resize, ScalesThatAreNotTheRatioOfExtents) {
  const std::vector<float> y = resized("resize(factor=0.6, kind=linear)", {1, 2, 4, 1});
  ASSERT_EQ(y.size(), 2u);
  expect_near(y, {2.6666665, 4.3333331});
  EXPECT_EQ(resized("resize(size=[1, 2], scales=[0.6, 0.6], kind=linear)", {1, 2, 4, 1}), y);
}

TEST(Resize, LinearWithAlignedCorners) {
  expect_near(resized("resize(factor=2, kind=linear, coordinates=align_corners)", {1, 2, 2, 1}),
              {1, 1.33333333, 1.66666667, 2, 1.66666667, 2, 2.33333333, 2.66666667});
}

TEST(Resize, LinearUpwards) {
  expect_near(resized("resize(factor=2, kind=linear)", {1, 2, 2, 1}), {1, 1.25, 1.75, 2, 1.5, 1.75, 2.25, 2.5});
}

TEST(Resize, CubicUpwards) {
  expect_near(resized("resize(factor=2, kind=cubic)", {1, 4, 4, 1}),
              {0.47265625, 0.76953125, 1.24609375, 1.875, 2.28125, 2.91015625, 3.38671875, 3.68359375});
}

TEST(Resize, NearestUpwards) {
  EXPECT_EQ(resized("resize(factor=[2, 3])", {1, 2, 2, 1}),
            (std::vector<float>{1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 3, 3, 3, 4, 4, 4}));
}

TEST(Resize, Refuses) {
  EXPECT_THROW(make_operator("resize"), UsageError);
  EXPECT_THROW(make_operator("resize(size=3, factor=2)"), UsageError);
  EXPECT_THROW(make_operator("resize(factor=2, kind=quintic)"), UsageError);
  EXPECT_EQ(failure([] {
              Direct("resize(size=[2, 3])", {{1, 4, 4, 4, 1}});
            }),
            "size has 2 numbers, x has 3 spatial axes");
  EXPECT_EQ(failure([] {
              Direct("resize(factor=0.2)", {{1, 4, 1}});
            }),
            "axis 1 of x = 1x4x1 would have no element left");
}

}  // namespace
}  // namespace isobar::ops
