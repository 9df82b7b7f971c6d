#include "isobar/onnx/array.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "isobar/base/error.hpp"

namespace isobar::onnx {
namespace {

TEST(OnnxArray, IntegersCutTheFractionAndWrap) {
  EXPECT_EQ(stored_as(Type::int8, 127.9), 127);
  EXPECT_EQ(stored_as(Type::int8, 128), -128);
  EXPECT_EQ(stored_as(Type::int8, -3.9), -3);
  EXPECT_EQ(stored_as(Type::uint8, -1), 255);
  EXPECT_EQ(stored_as(Type::uint16, 65537), 1);
  EXPECT_EQ(stored_as(Type::int16, 32768), -32768);
  EXPECT_EQ(stored_as(Type::int32, 0x1p31), -0x1p31);
  EXPECT_EQ(stored_as(Type::uint32, -2), 4294967294.0);
  EXPECT_EQ(stored_as(Type::int64, -7.5), -7);
  EXPECT_EQ(stored_as(Type::int64, 9007199254740991.0), 9007199254740991.0);
  EXPECT_EQ(stored_as(Type::int64, 0x1p63), -0x1p63);
  EXPECT_LT(stored_as(Type::uint64, -1), 0x1p64);
  EXPECT_EQ(stored_as(Type::int32, std::numeric_limits<double>::infinity()), 0);
  EXPECT_EQ(stored_as(Type::boolean, 0.1), 1);
}

TEST(OnnxArray, FloatsRoundToTheNearestTiesToEven) {
  EXPECT_EQ(stored_as(Type::float32, 0.1), static_cast<double>(0.1f));
  EXPECT_EQ(stored_as(Type::float16, 2049), 2048);
  EXPECT_EQ(stored_as(Type::float16, 2051), 2052);
  EXPECT_EQ(stored_as(Type::float16, 65504), 65504);
  EXPECT_TRUE(std::isinf(stored_as(Type::float16, 65520)));
  EXPECT_EQ(stored_as(Type::float16, 0x1p-24), 0x1p-24);
  EXPECT_EQ(stored_as(Type::float16, 0x1p-26), 0);
  EXPECT_EQ(stored_as(Type::bfloat16, 257), 256);
  EXPECT_EQ(stored_as(Type::bfloat16, 259), 260);
  EXPECT_TRUE(std::isnan(stored_as(Type::bfloat16, std::nan(""))));
}

TEST(OnnxArray, TypesHaveNamesAndSizes) {
  EXPECT_EQ(type_name(Type::bfloat16), "bfloat16");
  EXPECT_EQ(type_name(static_cast<Type>(99)), "unknown");
  EXPECT_EQ(type_bytes(Type::float16), 2U);
  EXPECT_EQ(type_bytes(Type::complex128), 16U);
  EXPECT_EQ(type_bytes(Type::text), 0U);
  EXPECT_FALSE(is_integer(Type::boolean));
  EXPECT_TRUE(is_floating(Type::float16));
}

TEST(OnnxArray, CountsAreChecked) {
  EXPECT_EQ(checked_count({}, "x"), 1);
  EXPECT_EQ(checked_count({2, 0, max_axis}, "x"), 0);
  EXPECT_THROW(checked_count({2, -1}, "x"), Error);
  EXPECT_THROW(checked_count({max_axis + 1}, "x"), Error);
  EXPECT_THROW(checked_count({max_axis, max_axis, max_axis}, "x"), Error);
  // Even with an extent of 0, the strides must stay below the limit.
  EXPECT_THROW(checked_count({0, max_axis, max_axis}, "x"), Error);
  EXPECT_EQ(graph_shape({}), Shape{1});
  EXPECT_EQ(dims_text({2, 3}), "[2,3]");
}

}  // namespace
}  // namespace isobar::onnx
