// Figures: numbers for columns of a table: one unit and one number of decimals for all rows, so that they can be
// compared by eye.
#pragma once

#include <string>

namespace isobar::report {

/// How a column formats its numbers: value / size, with `decimals` decimals.
struct Unit {
  double size = 1;
  std::string name{};
  int decimals = 0;

  std::string text(double value) const;
  /// Empty for zero: an empty cell distracts less than 0.000.
  std::string text_or_blank(double value) const { return value == 0 ? "" : text(value); }
};

/// The unit in which `largest`, in seconds, FLOPs or bytes, is easy to read: ms, GF, MB.
Unit seconds_unit(double largest);
Unit flops_unit(double largest);
Unit bytes_unit(double largest);

/// "12.3 %"; empty when the whole is unknown.
std::string percent(double part, double whole);

}  // namespace isobar::report
