// Figures: numbers for columns of a table: one unit and one number of decimals for all rows, so that they can be
// compared by eye.
#pragma once

#include <string>

namespace isobar::report {

/// How a column writes its numbers: value / size, with that many decimals.
struct Unit {
  double size = 1;
  std::string name{};
  int decimals = 0;

  std::string text(double value) const;
  /// Nothing for zero: an empty cell is easier to overlook than a 0.000.
  std::string text_or_blank(double value) const { return value == 0 ? "" : text(value); }
};

/// The unit in which `largest`, in seconds, FLOPs or bytes, is a number people like: ms, GF, MB.
Unit seconds_unit(double largest);
Unit flops_unit(double largest);
Unit bytes_unit(double largest);

/// "12.3 %"; nothing when the whole is not known.
std::string percent(double part, double whole);

}  // namespace isobar::report
