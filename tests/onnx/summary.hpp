// Summary of a tensor, as stored in golden files: its Euclidean norm, and the sums of its numbers with four fixed lists
// of random signs. A change of one number changes each of those sums by the same amount, and a change in any direction
// e changes them by about |e|. tests/onnx/oracle/summary.py computes the same.
#pragma once

#include <array>
#include <cmath>
#include <span>

#include "isobar/base/random.hpp"

namespace isobar::onnx {

inline constexpr std::size_t projections = 4;

/// The norm, then the projections.
using Summary = std::array<double, 1 + projections>;

inline Summary summary(std::span<const float> values) {
  Summary result{};
  const Random random(2024);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double value = values[i];
    result[0] += value * value;
    const std::uint32_t bits = random.block(i)[0];
    for (std::size_t k = 0; k < projections; ++k) result[1 + k] += bits >> k & 1 ? -value : value;
  }
  result[0] = std::sqrt(result[0]);
  return result;
}

}  // namespace isobar::onnx
