#include "isobar/comm/wire_format.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace isobar::comm {
namespace {

constexpr float inf = std::numeric_limits<float>::infinity();

std::uint16_t packed(Wire wire, float number) {
  std::uint16_t stored = 0;
  pack(wire, {&number, 1}, reinterpret_cast<std::byte*>(&stored));
  return stored;
}

float unpacked(Wire wire, std::uint16_t stored) {
  float number = 0;
  unpack(wire, reinterpret_cast<const std::byte*>(&stored), {&number, 1});
  return number;
}

// What 16 bits mean, by the definition: sign, exponent, fraction.
double meaning(Wire wire, std::uint16_t stored) {
  const int fraction_bits = wire == Wire::bfloat16 ? 7 : 10, bias = wire == Wire::bfloat16 ? 127 : 15;
  const int exponent = (stored & 0x7fff) >> fraction_bits, fraction = stored & ((1 << fraction_bits) - 1);
  const double sign = stored & 0x8000 ? -1 : 1;
  if (exponent == 2 * bias + 1) return fraction ? std::nan("") : sign * inf;
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - fraction_bits);
  return sign * std::ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
}

TEST(Wire, EveryPatternOf16BitsMeansWhatItShouldAndComesBack) {
  for (const Wire wire : {Wire::bfloat16, Wire::float16})
    for (std::uint32_t pattern = 0; pattern < 0x10000; ++pattern) {
      const auto stored = static_cast<std::uint16_t>(pattern);
      const double wanted = meaning(wire, stored);
      const float number = unpacked(wire, stored);
      if (std::isnan(wanted)) {
        ASSERT_TRUE(std::isnan(number)) << pattern;
        ASSERT_TRUE(std::isnan(meaning(wire, packed(wire, number)))) << pattern;
      } else {
        ASSERT_EQ(number, wanted) << pattern;
        ASSERT_EQ(std::signbit(number), std::signbit(wanted)) << pattern;
        ASSERT_EQ(packed(wire, number), stored) << pattern;
      }
    }
}

TEST(Wire, HalfwayGoesToTheEvenNeighbourAndNothingElseDoes) {
  for (const Wire wire : {Wire::bfloat16, Wire::float16}) {
    const std::uint16_t largest = wire == Wire::bfloat16 ? 0x7f7f : 0x7bff;
    for (std::uint32_t below = 0; below < largest; ++below) {
      const auto low = static_cast<std::uint16_t>(below), high = static_cast<std::uint16_t>(below + 1);
      const auto middle = static_cast<float>((meaning(wire, low) + meaning(wire, high)) / 2);
      ASSERT_EQ(packed(wire, middle), below % 2 ? high : low) << below;
      ASSERT_EQ(packed(wire, -middle), (below % 2 ? high : low) | 0x8000) << below;
      ASSERT_EQ(packed(wire, std::nextafter(middle, 0.0f)), low) << below;
      ASSERT_EQ(packed(wire, std::nextafter(middle, inf)), high) << below;
    }
  }
}

TEST(Wire, WhatIsTooLargeBecomesInfiniteAndNanStaysNan) {
  EXPECT_EQ(packed(Wire::float16, std::nextafter(65520.0f, 0.0f)), 0x7bff);
  EXPECT_EQ(packed(Wire::float16, 65520.0f), 0x7c00);
  EXPECT_EQ(packed(Wire::float16, 1e30f), 0x7c00);
  EXPECT_EQ(packed(Wire::bfloat16, std::numeric_limits<float>::max()), 0x7f80);
  for (const std::uint32_t bits : {0x7f80'0001u, 0xff80'0001u, 0x7fff'ffffu, 0x7fc0'0000u})
    for (const Wire wire : {Wire::bfloat16, Wire::float16})
      EXPECT_TRUE(std::isnan(meaning(wire, packed(wire, std::bit_cast<float>(bits))))) << bits;
}

TEST(Wire, TheSendersCopyBecomesWhatTheReceiverReads) {
  for (const Wire wire : {Wire::float32, Wire::bfloat16, Wire::float16}) {
    std::vector<float> numbers;  // a length that is no multiple of a vector's
    for (int i = 0; i < 1237; ++i) numbers.push_back(std::sin(static_cast<float>(i)) * 100);
    std::vector<float> rounded = numbers, read(numbers.size()), sum(numbers.size(), 0.5f);
    const std::vector<float> before = numbers;
    std::vector<std::byte> bytes(numbers.size() * bytes_of(wire));
    pack(wire, numbers, bytes.data());
    unpack(wire, bytes.data(), read);
    unpack_add(wire, bytes.data(), sum);
    round_to(wire, rounded);
    EXPECT_EQ(numbers, read);
    EXPECT_EQ(rounded, read);
    EXPECT_EQ(numbers == before, wire == Wire::float32);
    for (std::size_t i = 0; i < sum.size(); ++i) ASSERT_EQ(sum[i], 0.5f + read[i]);
  }
}

}  // namespace
}  // namespace isobar::comm
