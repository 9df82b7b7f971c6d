// Float16 and BFloat16: 16-bit floats for storing and sending; arithmetic is done in float. Conversions round to
// nearest, ties to even, with subnormal numbers, and give the same bits as the processor's own instructions. They use
// selects instead of branches, so that compilers vectorize loops over them, for any level of instructions.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace isobar {

/// The double rounded to odd as a float: its last bit says whether anything was lost, so that rounding it to 16 bits
/// gives the same as rounding the double once.
inline float cut_to_odd(double number) {
  const auto near = static_cast<float>(number);
  if (static_cast<double>(near) == number || number != number) return near;
  const auto bits = std::bit_cast<std::uint32_t>(near);
  return std::bit_cast<float>((std::abs(static_cast<double>(near)) > std::abs(number) ? bits - 1 : bits) | 1);
}

/// IEEE half: 5 exponent bits with bias 15, 10 fraction bits; below 2^-14 numbers are multiples of 2^-24. Numbers of
/// 65520 or more become infinite; NaN stays NaN.
struct Float16 {
  std::uint16_t bits;

  Float16() = default;
  explicit Float16(float number) : bits(narrow(number)) {}
  explicit Float16(double number) : Float16(cut_to_odd(number)) {}
  operator float() const { return widen(bits); }  // NOLINT(google-explicit-constructor): nothing is lost

  /// The number after a round trip through 16 bits, in fewer operations.
  static float rounded(float number) {
    const Bits word = std::bit_cast<Bits>(number), size = word & ~sign_bit;
    const Bits small = std::bit_cast<Bits>((std::bit_cast<float>(size) + 0.5f) - 0.5f);
    const Bits normal = (size + 0xfff + (size >> 13 & 1)) & ~Bits{0x1fff};
    const Bits finite = size < smallest_normal ? small : normal;
    const Bits special = size > infinity ? (size | 0x0040'0000) & ~Bits{0x1fff} : infinity;
    return std::bit_cast<float>((finite < too_large ? finite : special) | (word & sign_bit));
  }

  /// Whether the number stays finite, or was not finite before.
  static bool holds(float number) { return !(std::abs(number) >= 65520.0f) || std::isinf(number); }

 private:
  using Bits = std::uint32_t;
  static constexpr Bits rebias = Bits{127 - 15} << 23, smallest_normal = Bits{127 - 14} << 23;
  static constexpr Bits sign_bit = 0x8000'0000, infinity = 0x7f80'0000, too_large = Bits{127 + 16} << 23;

  // In both directions a number is shifted by an addition that adds 0 where no shift is needed: a compiler that must
  // preserve floating-point traps does not vectorize additions that only some numbers need.
  static std::uint16_t narrow(float number) {
    const Bits word = std::bit_cast<Bits>(number), size = word & ~sign_bit;
    constexpr Bits half = std::bit_cast<Bits>(0.5f);
    const Bits clipped = size < too_large ? size : too_large;
    // The last bit of a float in [0.5, 1) is worth 2^-24: adding 0.5 rounds to multiples of that.
    const Bits shift = clipped < smallest_normal ? half : Bits{0};
    const Bits shifted = std::bit_cast<Bits>(std::bit_cast<float>(clipped) + std::bit_cast<float>(shift));
    const Bits small = shifted - half, normal = (shifted - rebias + 0xfff + (shifted >> 13 & 1)) >> 13;
    const Bits finite = clipped < smallest_normal ? small : normal;
    const Bits result = size > infinity ? 0x7e00 | (size >> 13 & 0x03ff) : finite;
    return static_cast<std::uint16_t>(result | (word & sign_bit) >> 16);
  }

  static float widen(std::uint16_t stored) {
    const Bits size = Bits{stored} & 0x7fff, sign = (Bits{stored} & 0x8000) << 16;
    const Bits leading = size < 0x0400 ? Bits{1} << 23 : Bits{0};  // makes a small number 2^-14 too large
    const Bits excess = size < 0x0400 ? smallest_normal : Bits{0}, special = size >= 0x7c00 ? rebias : Bits{0};
    const Bits result = (size << 13) + rebias + leading + special;
    const float number = std::bit_cast<float>(result) - std::bit_cast<float>(excess);
    return std::bit_cast<float>(std::bit_cast<Bits>(number) | sign);
  }
};

/// The upper half of a float: the same range, with 7 fraction bits. NaN stays NaN.
struct BFloat16 {
  std::uint16_t bits;

  BFloat16() = default;
  explicit BFloat16(float number) : bits(static_cast<std::uint16_t>(nearest(number) >> 16)) {}
  explicit BFloat16(double number) : BFloat16(cut_to_odd(number)) {}
  operator float() const {  // NOLINT(google-explicit-constructor): nothing is lost
    return std::bit_cast<float>(std::uint32_t{bits} << 16);
  }

  /// The number after a round trip through 16 bits, in fewer operations.
  static float rounded(float number) { return std::bit_cast<float>(nearest(number) & 0xffff'0000); }

 private:
  // Only the upper half of the result is valid.
  static std::uint32_t nearest(float number) {
    const auto word = std::bit_cast<std::uint32_t>(number);
    const std::uint32_t quiet = word | 0x0040'0000;  // a NaN with all its bits in the lost half would become infinite
    return (word & 0x7fff'ffff) > 0x7f80'0000 ? quiet : word + 0x7fff + (word >> 16 & 1);
  }
};

static_assert(sizeof(Float16) == 2 && sizeof(BFloat16) == 2);

}  // namespace isobar
