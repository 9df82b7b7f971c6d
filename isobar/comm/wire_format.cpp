// Conversions are plain loops over bits, with choices instead of branches, so that the compiler makes vectors of them.
#include "isobar/comm/wire_format.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "isobar/base/instructions.hpp"

namespace isobar::comm {
namespace {

using Bits = std::uint32_t;

constexpr Bits sign_bit = 0x8000'0000, infinity = 0x7f80'0000;

struct Float32 {
  using Stored = float;
  static float narrow(float number) { return number; }
  static float widen(float stored) { return stored; }
};

struct BFloat16 {
  using Stored = std::uint16_t;
  static Stored narrow(float number) {
    const Bits bits = std::bit_cast<Bits>(number), rounded = bits + 0x7fff + (bits >> 16 & 1);
    const Bits quiet = bits | 0x0040'0000;  // a NaN whose bits all lie in the lost half would become infinite
    return static_cast<Stored>(((bits & ~sign_bit) > infinity ? quiet : rounded) >> 16);
  }
  static float widen(Stored stored) { return std::bit_cast<float>(Bits{stored} << 16); }
};

// 5 bits of exponent with bias 15, 10 of fraction; below 2^-14 numbers are multiples of 2^-24. Both ways a number is
// shifted by an addition that changes nothing (+ 0) where it is not wanted: a compiler that must keep the traps of
// floating point makes no vectors of additions that only some numbers need.
struct Float16 {
  using Stored = std::uint16_t;
  static constexpr Bits rebias = Bits{127 - 15} << 23, smallest_normal = Bits{127 - 14} << 23;

  static Stored narrow(float number) {
    const Bits bits = std::bit_cast<Bits>(number), size = bits & ~sign_bit;
    constexpr Bits half = std::bit_cast<Bits>(0.5f), too_large = Bits{127 + 16} << 23;
    const Bits clipped = size < too_large ? size : too_large;
    // The last bit of a float from 0.5 on is worth 2^-24: adding 0.5 rounds to multiples of that.
    const Bits shift = clipped < smallest_normal ? half : Bits{0};
    const Bits shifted = std::bit_cast<Bits>(std::bit_cast<float>(clipped) + std::bit_cast<float>(shift));
    const Bits small = shifted - half, normal = (shifted - rebias + 0xfff + (shifted >> 13 & 1)) >> 13;
    Bits result = clipped < smallest_normal ? small : normal;
    result = size > infinity ? 0x7e00 : result;
    return static_cast<Stored>(result | (bits & sign_bit) >> 16);
  }

  static float widen(Stored stored) {
    const Bits size = Bits{stored} & 0x7fff, sign = (Bits{stored} & 0x8000) << 16;
    const Bits leading = size < 0x0400 ? Bits{1} << 23 : Bits{0};  // makes a small number 2^-14 too large
    const Bits excess = size < 0x0400 ? smallest_normal : Bits{0}, special = size >= 0x7c00 ? rebias : Bits{0};
    const Bits result = (size << 13) + rebias + leading + special;
    const float number = std::bit_cast<float>(result) - std::bit_cast<float>(excess);
    return std::bit_cast<float>(std::bit_cast<Bits>(number) | sign);
  }
};

template <class F>
void with_format(Wire wire, F work) {
  switch (wire) {
    case Wire::float32: return run_dispatched([&] { work(Float32{}); });
    case Wire::bfloat16: return run_dispatched([&] { work(BFloat16{}); });
    case Wire::float16: return run_dispatched([&] { work(Float16{}); });
  }
}

}  // namespace

void pack(Wire wire, std::span<float> numbers, std::byte* to) {
  with_format(wire, [&]<class Format>(Format) {
    float* const number = numbers.data();
    auto* const stored = reinterpret_cast<typename Format::Stored*>(to);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      stored[i] = Format::narrow(number[i]);
      number[i] = Format::widen(stored[i]);
    }
  });
}

void round_to(Wire wire, std::span<float> numbers) {
  if (wire == Wire::float32) return;
  with_format(wire, [&]<class Format>(Format) {
    float* const number = numbers.data();
    for (std::size_t i = 0; i < numbers.size(); ++i) number[i] = Format::widen(Format::narrow(number[i]));
  });
}

void unpack(Wire wire, const std::byte* from, std::span<float> to) {
  with_format(wire, [&]<class Format>(Format) {
    const auto* const stored = reinterpret_cast<const typename Format::Stored*>(from);
    float* const number = to.data();
    for (std::size_t i = 0; i < to.size(); ++i) number[i] = Format::widen(stored[i]);
  });
}

void unpack_add(Wire wire, const std::byte* from, std::span<float> to) {
  with_format(wire, [&]<class Format>(Format) {
    const auto* const stored = reinterpret_cast<const typename Format::Stored*>(from);
    float* const number = to.data();
    for (std::size_t i = 0; i < to.size(); ++i) number[i] += Format::widen(stored[i]);
  });
}

}  // namespace isobar::comm
