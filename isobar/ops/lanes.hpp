// Vectors of floats as long as a register of the instruction level in use, and stores that bypass the caches. They are
// best for results larger than the last cache: lines need not be read first, which saves a third to a half of the
// traffic.
#pragma once

#include <cmath>
#include <cstdint>
#include <emmintrin.h>

#include <oneapi/dnnl/dnnl.hpp>

#include "isobar/base/instructions.hpp"

namespace isobar::ops {

/// Sixteen numbers at once (a register of x86-64-v4) or eight (x86-64-v3); the same loop handles the remaining numbers
/// one by one. Not a template, because GCC forgets the sizes of vectors that depend on a parameter.
struct Sixteen {
  static constexpr int lanes = 16;
  using Floats = float __attribute__((vector_size(64), aligned(4), may_alias));
  using Doubles = double __attribute__((vector_size(128), aligned(8), may_alias));
  using Wholes = std::int32_t __attribute__((vector_size(64)));
  using Shorts = std::int16_t __attribute__((vector_size(32)));
  using Bytes = std::uint8_t __attribute__((vector_size(16), aligned(1), may_alias));
};
struct Eight {
  static constexpr int lanes = 8;
  using Floats = float __attribute__((vector_size(32), aligned(4), may_alias));
  using Doubles = double __attribute__((vector_size(64), aligned(8), may_alias));
  using Wholes = std::int32_t __attribute__((vector_size(32)));
  using Shorts = std::int16_t __attribute__((vector_size(16)));
  using Bytes = std::uint8_t __attribute__((vector_size(8), aligned(1), may_alias));
};
struct One {
  static constexpr int lanes = 1;
  using Floats = float;
  using Wholes = std::int32_t;
  using Bytes = std::uint8_t;
};

/// The numbers at p.
template <class L>
typename L::Floats& numbers(float* p) {
  return *reinterpret_cast<typename L::Floats*>(p);
}
template <class L>
const typename L::Floats& numbers(const float* p) {
  return *reinterpret_cast<const typename L::Floats*>(p);
}

/// The bytes of a memory: masks, places.
inline std::uint8_t* bytes(const dnnl::memory& memory) { return static_cast<std::uint8_t*>(memory.get_data_handle()); }

// Vectors are passed by value only between functions that are always inlined, since the calling convention depends on
// the level.

/// The bytes at p as whole numbers.
template <class L>
[[gnu::always_inline]] inline typename L::Wholes wholes(const std::uint8_t* p) {
  if constexpr (L::lanes == 1) {
    return *p;
  } else {  // in two steps, which GCC compiles to single instructions
    const auto half = __builtin_convertvector(*reinterpret_cast<const typename L::Bytes*>(p), typename L::Shorts);
    return __builtin_convertvector(half, typename L::Wholes);
  }
}

/// sum + a * b, rounded once if the machine can; left to the compiler, this would depend on how a loop was divided.
template <class L>
[[gnu::always_inline]] inline typename L::Floats multiply_add(typename L::Floats a, typename L::Floats b,
                                                              typename L::Floats sum) {
  if constexpr (L::lanes == 1) return std::fma(a, b, sum);
  else return a * b + sum;
}

/// Adds the numbers to the doubles at p.
template <class L>
[[gnu::always_inline]] inline void add_to_doubles(typename L::Floats values, double* p) {
  if constexpr (L::lanes == 1) {
    *p += static_cast<double>(values);
  } else {
    *reinterpret_cast<typename L::Doubles*>(p) += __builtin_convertvector(values, typename L::Doubles);
  }
}

/// Writes whole numbers below 256 as bytes to p.
template <class L>
void put_bytes(const typename L::Wholes& values, std::uint8_t* p) {
  if constexpr (L::lanes == 1) *p = static_cast<std::uint8_t>(values);
  else *reinterpret_cast<typename L::Bytes*>(p) = __builtin_convertvector(values, typename L::Bytes);
}

/// Whether a result of `count` floats at `to`, in rows of `length`, should bypass the caches; then every thread that
/// wrote must call fence().
inline bool streams(const float* to, std::int64_t count, std::int64_t length) {
  constexpr std::int64_t beyond_caches = 8 << 20;
  return count >= beyond_caches && length % Sixteen::lanes == 0 && reinterpret_cast<std::uintptr_t>(to) % 64 == 0;
}

/// Writes numbers to p; if `past`, it bypasses the caches, and p must be aligned to 64 bytes.
template <bool past, class L>
[[gnu::always_inline]] inline void store(float* p, typename L::Floats values) {
  if constexpr (past && L::lanes > 1) {
    using Quarter = float __attribute__((vector_size(16)));
    const Quarter* const parts = reinterpret_cast<const Quarter*>(&values);
    for (int i = 0; i < L::lanes / 4; ++i) _mm_stream_ps(p + 4 * i, parts[i]);
  } else {
    numbers<L>(p) = values;
  }
}

inline void fence() { _mm_sfence(); }

/// Calls block(lanes, i) for [0, count) in blocks as long as a register, and one by one for the rest.
template <class Block>
void in_lanes(std::int64_t count, Block&& block) {
  std::int64_t i = 0;
  if (instructions() == Instructions::v4)
    for (; i + Sixteen::lanes <= count; i += Sixteen::lanes) block(Sixteen{}, i);
  else
    for (; i + Eight::lanes <= count; i += Eight::lanes) block(Eight{}, i);
  for (; i < count; ++i) block(One{}, i);
}

}  // namespace isobar::ops
