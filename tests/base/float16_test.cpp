#include "isobar/base/float16.hpp"

#include <limits>

#include <gtest/gtest.h>

namespace isobar {
namespace {

constexpr float inf = std::numeric_limits<float>::infinity();

template <class T>
T stored(std::uint32_t pattern) {
  T number;
  number.bits = static_cast<std::uint16_t>(pattern);
  return number;
}

// The value of 16 bits, by definition: sign, exponent, fraction.
template <class T>
double meaning(T number) {
  const int fraction_bits = std::is_same_v<T, BFloat16> ? 7 : 10, bias = std::is_same_v<T, BFloat16> ? 127 : 15;
  const int exponent = (number.bits & 0x7fff) >> fraction_bits, fraction = number.bits & ((1 << fraction_bits) - 1);
  const double sign = number.bits & 0x8000 ? -1 : 1;
  if (exponent == 2 * bias + 1) return fraction ? std::nan("") : sign * inf;
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - fraction_bits);
  return sign * std::ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
}

template <class T>
class Float16Test : public testing::Test {};

using Kinds = testing::Types<Float16, BFloat16>;
TYPED_TEST_SUITE(Float16Test, Kinds);

TYPED_TEST(Float16Test, EveryPatternOf16BitsMeansWhatItShouldAndComesBack) {
  for (std::uint32_t pattern = 0; pattern < 0x10000; ++pattern) {
    const double wanted = meaning(stored<TypeParam>(pattern));
    const float number = stored<TypeParam>(pattern);
    if (std::isnan(wanted)) {
      ASSERT_TRUE(std::isnan(number)) << pattern;
      ASSERT_TRUE(std::isnan(meaning(TypeParam(number)))) << pattern;
    } else {
      ASSERT_EQ(number, wanted) << pattern;
      ASSERT_EQ(std::signbit(number), std::signbit(wanted)) << pattern;
      ASSERT_EQ(TypeParam(number).bits, pattern) << pattern;
      ASSERT_EQ(TypeParam(wanted).bits, pattern) << pattern;
    }
  }
}

TYPED_TEST(Float16Test, HalfwayGoesToTheEvenNeighbourAndNothingElseDoes) {
  const std::uint32_t largest = std::is_same_v<TypeParam, BFloat16> ? 0x7f7f : 0x7bff;
  for (std::uint32_t low = 0; low < largest; ++low) {
    const double between = (meaning(stored<TypeParam>(low)) + meaning(stored<TypeParam>(low + 1))) / 2;
    const auto middle = static_cast<float>(between);
    const std::uint32_t even = low + low % 2;
    ASSERT_EQ(TypeParam(middle).bits, even) << low;
    ASSERT_EQ(TypeParam(-middle).bits, even | 0x8000) << low;
    ASSERT_EQ(TypeParam(std::nextafter(middle, 0.0f)).bits, low) << low;
    ASSERT_EQ(TypeParam(std::nextafter(middle, inf)).bits, low + 1) << low;
    // Closer to the midpoint than a float can resolve: rounding twice would go to the even neighbour.
    ASSERT_EQ(TypeParam(std::nextafter(between, 0.0)).bits, low) << low;
    ASSERT_EQ(TypeParam(std::nextafter(between, double{inf})).bits, low + 1) << low;
    ASSERT_EQ(TypeParam(-std::nextafter(between, double{inf})).bits, (low + 1) | 0x8000) << low;
  }
}

TYPED_TEST(Float16Test, NanStaysNanWithItsSign) {
  for (const std::uint32_t bits : {0x7f80'0001u, 0xff80'0001u, 0x7fff'ffffu, 0x7fc0'0000u}) {
    const TypeParam number(std::bit_cast<float>(bits));
    EXPECT_TRUE(std::isnan(meaning(number))) << bits;
    EXPECT_EQ(number.bits >> 15, bits >> 31) << bits;
  }
  EXPECT_TRUE(std::isnan(meaning(TypeParam(std::nan("")))));
}

TEST(Float16, WhatIsTooLargeBecomesInfinite) {
  const float last = std::nextafter(65520.0f, 0.0f);
  EXPECT_EQ(Float16(last).bits, 0x7bff);
  EXPECT_EQ(Float16(65520.0f).bits, 0x7c00);
  EXPECT_EQ(Float16(-1e30f).bits, 0xfc00);
  EXPECT_EQ(Float16(1e300).bits, 0x7c00);
  EXPECT_EQ(BFloat16(std::numeric_limits<float>::max()).bits, 0x7f80);
  EXPECT_TRUE(Float16::holds(last));
  EXPECT_FALSE(Float16::holds(-65520.0f));
  EXPECT_TRUE(Float16::holds(inf));
  EXPECT_TRUE(Float16::holds(std::nanf("")));
}

TYPED_TEST(Float16Test, RoundedIsWhatComesBack) {
  for (std::uint64_t word = 0; word < std::uint64_t{1} << 32; word += 997) {
    const auto number = std::bit_cast<float>(static_cast<std::uint32_t>(word));
    const float back = TypeParam(number);
    ASSERT_EQ(std::bit_cast<std::uint32_t>(TypeParam::rounded(number)), std::bit_cast<std::uint32_t>(back)) << word;
  }
}

TEST(Float16, GivesTheBitsOfTheProcessor) {
  __extension__ using Builtin = _Float16;
  for (std::uint64_t word = 0; word < std::uint64_t{1} << 32; word += 997) {
    const auto number = std::bit_cast<float>(static_cast<std::uint32_t>(word));
    ASSERT_EQ(Float16(number).bits, std::bit_cast<std::uint16_t>(static_cast<Builtin>(number))) << word;
  }
  for (std::uint32_t pattern = 0; pattern < 0x10000; ++pattern) {
    const float number = stored<Float16>(pattern);
    const auto wanted = static_cast<float>(std::bit_cast<Builtin>(static_cast<std::uint16_t>(pattern)));
    ASSERT_EQ(std::bit_cast<std::uint32_t>(number), std::bit_cast<std::uint32_t>(wanted)) << pattern;
  }
}

}  // namespace
}  // namespace isobar
