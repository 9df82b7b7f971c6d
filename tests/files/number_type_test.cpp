#include "isobar/files/number_type.hpp"

#include <cmath>
#include <limits>

#include "tests/expect_error.hpp"

namespace isobar::files {
namespace {

using tests::error_of;
using Bytes = std::vector<std::uint8_t>;

std::vector<float> floats(NumberType type, const Bytes& bytes, std::endian order = std::endian::little) {
  std::vector<float> out(bytes.size() / width_of(type));
  to_floats(type, bytes, order, out);
  return out;
}

Bytes packed(NumberType type, const std::vector<float>& numbers) {
  Bytes bytes(numbers.size() * width_of(type));
  from_floats(type, numbers, bytes);
  return bytes;
}

TEST(NumberType, NamesAndWidths) {
  for (const std::string& name : number_type_names()) EXPECT_EQ(name_of(number_type(name).value()), name);
  EXPECT_FALSE(number_type("complex64"));
  EXPECT_EQ(width_of(NumberType::bool8), 1u);
  EXPECT_EQ(width_of(NumberType::float16), 2u);
  EXPECT_EQ(width_of(NumberType::uint64), 8u);
}

TEST(NumberType, BothByteOrders) {
  EXPECT_EQ(floats(NumberType::int16, {0xFE, 0xFF, 0x00, 0x01}), (std::vector<float>{-2, 256}));
  EXPECT_EQ(floats(NumberType::int16, {0xFF, 0xFE, 0x01, 0x00}, std::endian::big), (std::vector<float>{-2, 256}));
  EXPECT_EQ(floats(NumberType::uint32, {0xFF, 0xFF, 0, 0}), (std::vector<float>{65535}));
  EXPECT_EQ(floats(NumberType::float64, {0x3F, 0xF8, 0, 0, 0, 0, 0, 0}, std::endian::big), (std::vector<float>{1.5}));
  EXPECT_EQ(floats(NumberType::bool8, {0, 1, 7}), (std::vector<float>{0, 1, 1}));
}

TEST(NumberType, EveryFloat16ComesBack) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const Bytes bytes{static_cast<std::uint8_t>(bits), static_cast<std::uint8_t>(bits >> 8)};
    const std::vector<float> value = floats(NumberType::float16, bytes);
    if (std::isnan(value[0]))
      EXPECT_TRUE(std::isnan(floats(NumberType::float16, packed(NumberType::float16, value))[0]));
    else EXPECT_EQ(packed(NumberType::float16, value), bytes) << value[0];
  }
  EXPECT_EQ(floats(NumberType::float16, {0x01, 0x00})[0], 0x1p-24f);
  EXPECT_EQ(floats(NumberType::float16, {0xFF, 0x7B})[0], 65504.0f);
  EXPECT_EQ(floats(NumberType::float16, {0x00, 0x3C})[0], 1.0f);
  const auto rounded = [](float number) {
    return floats(NumberType::float16, packed(NumberType::float16, {number}))[0];
  };
  EXPECT_EQ(rounded(2049.0f), 2048.0f);  // half-way goes to the even neighbour
  EXPECT_EQ(rounded(2051.0f), 2052.0f);
  EXPECT_EQ(rounded(2047.9f), 2048.0f);
  EXPECT_EQ(rounded(0x1.ffep-15f), 0x1p-14f);
}

TEST(NumberType, WhatDoesNotFitIsRefused) {
  EXPECT_EQ(packed(NumberType::uint8, {0, 255}), (Bytes{0, 255}));
  EXPECT_EQ(packed(NumberType::int16, {-32768, 32767}), (Bytes{0, 0x80, 0xFF, 0x7F}));
  const auto message = [](NumberType type, float number) { return error_of([&] { packed(type, {number}); }); };
  EXPECT_HAS(message(NumberType::uint8, 256), "256 is no whole number from 0 to 255");
  EXPECT_HAS(message(NumberType::uint8, 1.5f), "1.5");
  EXPECT_HAS(message(NumberType::int32, 0x1p31f), "no whole number");
  EXPECT_HAS(message(NumberType::uint64, -1), "-1");
  EXPECT_HAS(message(NumberType::int64, std::nanf("")), "nan");
  EXPECT_HAS(message(NumberType::float16, 65520), "65520 does not fit");
  EXPECT_HAS(message(NumberType::bool8, 2), "not a truth value");
}

}  // namespace
}  // namespace isobar::files
