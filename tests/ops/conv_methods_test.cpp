// The table of methods: which are used if nothing was measured, and that all directions are covered.
#include "isobar/ops/conv_methods.hpp"

#include <set>

#include <gtest/gtest.h>

#include "tests/ops/direct.hpp"

namespace isobar::ops {
namespace {

TEST(ConvMethods, HaveNamesOfTheirOwnAndDirectIsTheLastResort) {
  const auto known = names(conv_methods());
  EXPECT_EQ(std::set(known.begin(), known.end()).size(), known.size());
  for (const ConvMethod* method : conv_methods()) EXPECT_FALSE(method->summary.empty()) << method->name;
  const ConvMethod& direct = find(conv_methods(), "direct", "method");
  EXPECT_TRUE(direct.exact);
  EXPECT_TRUE(direct.preferred(ConvCase{}, Direction::forward));
}

TEST(ConvMethods, WithoutOwnKernelsOnlyPrimitivesRun) {
  Direct conv("conv(filters=32, kernel=3, padding=same)", {{1, 6, 6, 4}});
  conv.own_kernels = false;
  conv.in[1].layout = conv.op->forward(conv.setting(), conv.in).reads[1].layout;
  for (const Kernel& kernel : conv.op->backward(conv.setting(), conv.in)) EXPECT_TRUE(kernel.library) << kernel.name;
}

TEST(ConvMethods, FewChannelsHaveAKernelOfTheirOwn) {
  Direct conv("conv(filters=32, kernel=3, padding=same)", {{1, 6, 6, 4}});
  conv.in[1].layout = conv.op->forward(conv.setting(), conv.in).reads[1].layout;
  const auto list = conv.op->backward(conv.setting(), conv.in);
  EXPECT_EQ(list[0].name, "weight gradient");
  EXPECT_FALSE(list[0].library);
}

TEST(ConvMethods, ACaseOfFewerSamplesIsTheSameOtherwise) {
  ConvCase whole;
  whole.x = {8, 5, 5, 3};
  whole.y = {8, 4, 4, 2};
  whole.flops = 800;
  const ConvCase part = whole.of(3);
  EXPECT_EQ(part.x, (Shape{3, 5, 5, 3}));
  EXPECT_EQ(part.y, (Shape{3, 4, 4, 2}));
  EXPECT_EQ(part.y_layout, channels_last(part.y));
  EXPECT_EQ(part.flops, 300);
}

}  // namespace
}  // namespace isobar::ops
