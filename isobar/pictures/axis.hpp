// Axis: a range that covers the values to draw, with a small margin, and the round numbers in it.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace isobar::pictures {

struct Axis {
  double low = 0, high = 1;
  double step = 0.5;  ///< between ticks: 1, 2 or 5 times a power of ten

  /// The multiples of the step that lie in the range.
  std::vector<double> ticks() const;
  /// A tick as text, with as many digits as the step needs.
  std::string label(double tick) const;
  /// Where a value lies: 0 at low, 1 at high.
  double place(double value) const { return (value - low) / (high - low); }
};

/// The axis that covers all finite values of both lists with at most `intervals` steps.
Axis axis_over(std::span<const double> a, std::span<const double> b, int intervals);

}  // namespace isobar::pictures
