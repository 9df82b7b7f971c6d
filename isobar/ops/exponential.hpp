// exp, and the logistic function and tanh based on it, without calls and branches, so that loops over them are
// vectorised. exp(x) = 2^n * exp(r) with |r| <= ln(2)/2, where the Taylor series to r^7 is accurate to 1e-7.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace isobar::ops {

/// exp(x) to a few units in the last place; arguments beyond +-87 are clamped to that.
inline float exponential(float x) {
  constexpr float high = 355.0f / 512.0f, low = -2.1219444e-4f;  // ln(2) in two parts: n * high is exact
  constexpr float to_whole = 12582912.0f;                        // 1.5 * 2^23: adding it rounds to a whole number
  x = std::min(std::max(x, -87.0f), 87.0f);
  const float n = (x * 1.44269504f + to_whole) - to_whole;
  const float r = (x - n * high) - n * low;
  float sum = 1.0f / 5040;
  sum = sum * r + 1.0f / 720;
  sum = sum * r + 1.0f / 120;
  sum = sum * r + 1.0f / 24;
  sum = sum * r + 1.0f / 6;
  sum = sum * r + 0.5f;
  sum = sum * r + 1;
  sum = sum * r + 1;
  return sum * std::bit_cast<float>((static_cast<std::int32_t>(n) + 127) << 23);
}

/// 1 / (1 + exp(-x)).
inline float logistic(float x) { return 1 / (1 + exponential(-x)); }

/// tanh(x), with an absolute error of about 1e-7.
inline float hyperbolic_tangent(float x) { return 1 - 2 / (exponential(2 * x) + 1); }

}  // namespace isobar::ops
