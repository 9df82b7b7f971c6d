// NetcdfPacking: converts stored numbers to values, as the attributes of a variable say: value = scale_factor * number
// + add_offset. Missing are _FillValue, missing_value, numbers outside valid_min, valid_max or valid_range, and NaN;
// without a _FillValue, the NetCDF library's fill value is missing. _Unsigned flips the signedness of integers.
#pragma once

#include <limits>
#include <span>
#include <string>
#include <vector>

#include "isobar/hdf5/netcdf_header.hpp"

namespace isobar::hdf5 {

class NetcdfPacking {
 public:
  explicit NetcdfPacking(const NetcdfVariable& variable);

  /// Turns stored numbers into values, in place; missing ones become `missing`. T: float, double.
  template <class T>
  void unpack(std::span<T> numbers, T missing) const;

  /// Whether stored numbers of this variable are exact as floats.
  bool exact_as_float() const { return exact_as_float_; }
  /// "packed: 0.002 * short + 249.9; missing: -32767" for people to read, or "".
  std::string describe() const;

 private:
  static constexpr double infinity = std::numeric_limits<double>::infinity();

  double scale_ = 1, offset_ = 0;
  double wrap_ = 0;              // added to numbers below `turn_`, or subtracted from those above, for _Unsigned
  double turn_ = 0;              //
  std::vector<double> missing_;  // stored numbers
  double low_ = -infinity, high_ = infinity;              // of stored numbers
  double value_low_ = -infinity, value_high_ = infinity;  // of values
  bool exact_as_float_ = false;
};

}  // namespace isobar::hdf5
