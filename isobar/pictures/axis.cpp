#include "isobar/pictures/axis.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace isobar::pictures {
namespace {

double round_step(double rough) {
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= rough * (1 - 1e-9)) return factor * power;
  return 10 * power;
}

}  // namespace

std::vector<double> Axis::ticks() const {
  std::vector<double> list;
  const double first = std::ceil(low / step - 1e-9), last = std::floor(high / step + 1e-9);
  for (double i = first; i <= last; ++i) list.push_back(i * step);
  return list;
}

std::string Axis::label(double tick) const {
  if (std::abs(tick) < step * 1e-6) tick = 0;  // neither -0 nor 1e-17
  const double largest = std::max(std::abs(low), std::abs(high));
  if (largest >= 1e6 || step < 1e-5) return fmt::format("{:.3g}", tick);
  return fmt::format("{:.{}f}", tick, std::max(0, static_cast<int>(-std::floor(std::log10(step) + 1e-9))));
}

Axis axis_over(std::span<const double> a, std::span<const double> b, int intervals) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const auto& list : {a, b}) {
    for (const double value : list) {
      if (!std::isfinite(value)) continue;
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  if (low > high) return {};
  // A single value, or values that differ only by rounding, still need a range.
  const double least = std::max(1e-12, 1e-6 * std::max(std::abs(low), std::abs(high)));
  const double middle = (low + high) / 2, half = 0.54 * std::max(high - low, least);
  return {middle - half, middle + half, round_step(2 * half / intervals)};
}

}  // namespace isobar::pictures
