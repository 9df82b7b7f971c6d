// What ONNX's own test data does not cover: older versions of operators, operators without data, errors.
#include "isobar/onnx/functions.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "tests/onnx/call.hpp"

namespace isobar::onnx {
namespace {

using Numbers = std::vector<double>;

const Array left_out{Type::undefined, {}, {}};

TEST(Functions, WhatWasAnAttributeOnceBecameAnInput) {
  const Array x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  constexpr std::int64_t end = std::numeric_limits<std::int64_t>::max();
  const Array old =
      call("Slice", 9, {x},
           {{"starts", wholes_attribute({1})}, {"ends", wholes_attribute({end})}, {"axes", wholes_attribute({1})}})[0];
  EXPECT_EQ(old.values, (Numbers{2, 3, 5, 6}));
  const Array now =
      call("Slice", 13, {x, wholes({1}, {1}), wholes({1}, {static_cast<double>(end)}), wholes({1}, {1})})[0];
  EXPECT_EQ(now.values, old.values);
  EXPECT_EQ(call("Squeeze", 11, {floats({1, 3, 1}, {1, 2, 3})}, {{"axes", wholes_attribute({-1})}})[0].dims,
            (Dims{1, 3}));
  EXPECT_EQ(call("Unsqueeze", 11, {x}, {{"axes", wholes_attribute({0, 3})}})[0].dims, (Dims{1, 2, 3, 1}));
  EXPECT_EQ(call("ReduceSum", 11, {x}, {{"axes", wholes_attribute({0})}, {"keepdims", whole_attribute(0)}})[0].values,
            (Numbers{5, 7, 9}));
  EXPECT_EQ(call("Clip", 6, {x}, {{"min", number_attribute(2)}, {"max", number_attribute(4)}})[0].values,
            (Numbers{2, 2, 3, 4, 4, 4}));
  EXPECT_EQ(call("TopK", 9, {x}, {{"k", whole_attribute(1)}})[0].values, (Numbers{3, 6}));
  EXPECT_EQ(
      call("Pad", 10, {floats({2}, {1, 2})}, {{"pads", wholes_attribute({1, -1})}, {"value", number_attribute(9)}})[0]
          .values,
      (Numbers{9, 1}));
  const std::vector<Array> parts =
      call("Split", 11, {x}, {{"axis", whole_attribute(1)}, {"split", wholes_attribute({1, 2})}}, 2);
  EXPECT_EQ(parts[0].values, (Numbers{1, 4}));
  EXPECT_EQ(parts[1].values, (Numbers{2, 3, 5, 6}));
}

TEST(Functions, SoftmaxBeforeVersion13TakesTrailingAxesAsOne) {
  const Array x = floats({1, 2, 2}, {0, 0, 0, 0});
  EXPECT_EQ(call("Softmax", 11, {x})[0].values, Numbers(4, 0.25));
  EXPECT_EQ(call("Softmax", 13, {x})[0].values, Numbers(4, 0.5));
  EXPECT_EQ(call("Hardmax", 11, {x})[0].values, (Numbers{1, 0, 0, 0}));
}

TEST(Functions, DropoutMaskHasTheTypeOfItsVersion) {
  const Array x = floats({2}, {1, 2});
  EXPECT_EQ(call("Dropout", 7, {x})[1].type, Type::float32);
  const std::vector<Array> out = call("Dropout", 10, {x}, {{"ratio", number_attribute(0.9)}});
  EXPECT_EQ(out[1].type, Type::boolean);
  EXPECT_EQ(out[0].values, x.values);
}

TEST(Functions, UpsampleAndEarlyResizeReadFromTheLeft) {
  const Array x = floats({1, 1, 1, 2}, {1, 2});
  const Numbers doubled{1, 1, 2, 2};
  EXPECT_EQ(call("Upsample", 7, {x}, {{"scales", numbers_attribute({1, 1, 1, 2})}})[0].values, doubled);
  const Array scales = floats({4}, {1, 1, 1, 2});
  EXPECT_EQ(call("Upsample", 9, {x, scales})[0].values, doubled);
  EXPECT_EQ(call("Resize", 10, {x, scales})[0].values, doubled);
  EXPECT_EQ(call("Resize", 10, {x, scales}, {{"mode", text_attribute("linear")}})[0].values, (Numbers{1, 1.5, 2, 2}));
  // 10 times 0.7f is 7 in float, though less in double.
  EXPECT_EQ(
      call("Resize", 13, {floats({10}, Numbers(10, 1)), left_out, floats({1}, {static_cast<double>(0.7f)})})[0].dims,
      Dims{7});
}

TEST(Functions, NormsOfOtherOrders) {
  const Array x = floats({1, 1, 2, 2}, {3, -4, 1, -2});
  EXPECT_EQ(call("GlobalLpPool", 13, {x}, {{"p", whole_attribute(1)}})[0].values, Numbers{10});
  const Array pooled =
      call("LpPool", 13, {x}, {{"kernel_shape", wholes_attribute({1, 2})}, {"p", whole_attribute(2)}})[0];
  EXPECT_EQ(pooled.dims, (Dims{1, 1, 2, 1}));
  EXPECT_EQ(pooled.values[0], 5);
  EXPECT_EQ(call("LpNormalization", 13, {floats({2}, {3, -4})})[0].values,
            (Numbers{static_cast<double>(0.6f), static_cast<double>(-0.8f)}));
  EXPECT_EQ(call("LpNormalization", 13, {floats({2}, {0, 0})}, {{"p", whole_attribute(1)}})[0].values, (Numbers{0, 0}));
}

TEST(Functions, Activations) {
  const Array x = floats({2}, {1, -1});
  EXPECT_NEAR(call("Gelu", 20, {x})[0].values[1], -0.158655, 1e-6);
  EXPECT_NEAR(call("Gelu", 20, {x}, {{"approximate", text_attribute("tanh")}})[0].values[0], 0.841192, 1e-6);
  EXPECT_NEAR(call("Mish", 18, {x})[0].values[0], 0.865098, 1e-6);
  EXPECT_EQ(call("Shrink", 13, {x}, {{"bias", number_attribute(0.5)}})[0].values, (Numbers{0.5, -0.5}));
}

TEST(Functions, MaxOfRegionsIsTheLargestSample) {
  const Array x = floats({1, 1, 2, 2}, {1, 2, 3, 4});
  const std::vector<Array> out = call("RoiAlign", 16, {x, floats({1, 4}, {0, 0, 2, 2}), wholes({1}, {0})},
                                      {{"mode", text_attribute("max")}, {"sampling_ratio", whole_attribute(2)}});
  EXPECT_EQ(out[0].values, Numbers{4});
}

TEST(Functions, ConstantsOfEveryKind) {
  EXPECT_EQ(call("Constant", 13, {}, {{"value_ints", wholes_attribute({2, 3})}})[0].values, (Numbers{2, 3}));
  EXPECT_EQ(call("Constant", 13, {}, {{"value_float", number_attribute(2)}})[0].dims, Dims{});
  EXPECT_THROW(call("Constant", 13, {}), Error);
}

TEST(Functions, CeilModeAddsNoWindowOfPadsOnly) {
  const Array x = floats({1, 1, 3}, {1, 2, 3});
  const Array y = call("MaxPool", 12, {x},
                       {{"kernel_shape", wholes_attribute({1})},
                        {"strides", wholes_attribute({2})},
                        {"pads", wholes_attribute({0, 1})},
                        {"ceil_mode", whole_attribute(1)}})[0];
  EXPECT_EQ(y.values, (Numbers{1, 3}));
}

TEST(Functions, ShapeNeedsNoNumbers) {
  Array x = floats({2, 3, 4}, {});
  x.known = false;
  EXPECT_EQ(call("Shape", 15, {x}, {{"start", whole_attribute(-2)}})[0].values, (Numbers{3, 4}));
  EXPECT_EQ(call("Size", 13, {x})[0].values, Numbers{24});
  EXPECT_THROW(call("Relu", 13, {x}), NeedsValue);
  EXPECT_THROW(call("NonZero", 13, {x}), NeedsValue);
}

TEST(Functions, RefuseWhatDoesNotFit) {
  const Array x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_THROW(call("Add", 13, {x, floats({2}, {1, 2})}), Error);
  EXPECT_THROW(call("Add", 13, {x}), Error);
  EXPECT_THROW(call("Concat", 13, {x, x}, {{"axis", whole_attribute(2)}}), Error);
  EXPECT_THROW(call("Gather", 13, {x, wholes({1}, {2})}), Error);
  EXPECT_THROW(call("Reshape", 13, {x, wholes({2}, {-1, 4})}), Error);
  EXPECT_THROW(call("Reshape", 13, {x, wholes({2}, {-1, -1})}), Error);
  EXPECT_THROW(call("Transpose", 13, {x}, {{"perm", wholes_attribute({0, 0})}}), Error);
  EXPECT_THROW(call("MatMul", 13, {x, x}), Error);
  EXPECT_THROW(call("Cast", 13, {x}, {{"to", whole_attribute(8)}}), Error);
  EXPECT_THROW(call("Cast", 13, {x}, {{"to", whole_attribute(77)}}), Error);
  EXPECT_THROW(call("Range", 11, {floats({}, {0}), floats({}, {1}), floats({}, {0})}), Error);
  EXPECT_THROW(call("Einsum", 12, {x}, {{"equation", text_attribute("ij,jk->ik")}}), Error);
  EXPECT_THROW(call("Einsum", 12, {x}, {{"equation", text_attribute("ij->ii")}}), Error);
  EXPECT_THROW(call("Slice", 13, {x, wholes({1}, {0}), wholes({1}, {1}), wholes({1}, {0}), wholes({1}, {0})}), Error);
  EXPECT_EQ(find_function("Loop"), nullptr);
}

TEST(Functions, LargeResultsAreNotComputedWhileImporting) {
  const Array dims = wholes({2}, {65536, 65536});
  EXPECT_THROW(call("ConstantOfShape", 9, {dims}), Error);
  EXPECT_THROW(call("Expand", 13, {floats({1}, {1}), dims}), Error);
  EXPECT_THROW(call("Tile", 13, {floats({1}, {1}), wholes({1}, {1e18})}), Error);
}

TEST(Functions, ReflectionGoesBackAndForth) {
  const Array x = floats({3}, {1, 2, 3});
  EXPECT_EQ(call("Pad", 13, {x, wholes({2}, {5, 0})}, {{"mode", text_attribute("reflect")}})[0].values,
            (Numbers{2, 1, 2, 3, 2, 1, 2, 3}));
}

TEST(Functions, EinsumSumsRepeatsAndBroadcasts) {
  const Array x = floats({2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(call("Einsum", 12, {x}, {{"equation", text_attribute("ii->")}})[0].values, Numbers{5});
  EXPECT_EQ(call("Einsum", 12, {x, x}, {{"equation", text_attribute("ij,jk")}})[0].values, (Numbers{7, 10, 15, 22}));
  EXPECT_EQ(call("Einsum", 12, {x, floats({2}, {1, 10})}, {{"equation", text_attribute("...j,j->...")}})[0].values,
            (Numbers{21, 43}));
}

}  // namespace
}  // namespace isobar::onnx
