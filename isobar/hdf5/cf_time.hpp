// CfTime: the units of a CF time coordinate, such as "hours since 1900-01-01 00:00:0.0", and its calendar: converts
// numbers to instants and back. Months and years have no fixed length, so they are refused, except in calendars where
// all months or years are equally long.
#pragma once

#include <string_view>

#include "isobar/hdf5/cf_calendar.hpp"

namespace isobar::hdf5 {

class CfTime {
 public:
  /// Parses units; invalid units are an Error that says why.
  CfTime(std::string_view units, Calendar calendar);

  /// Whether a text looks like units of time: "... since ...".
  static bool looks_like(std::string_view units);

  Calendar calendar() const { return calendar_; }
  /// The instant of a number; a number that is not finite, or too far away, is an Error. Instants within a millisecond
  /// of a whole second are rounded to it: fractions of a day are not exact.
  Instant instant(double number) const;
  /// The number of an instant.
  double number(Instant instant) const;

 private:
  Calendar calendar_;
  Instant unit_ = 0, origin_ = 0;
};

}  // namespace isobar::hdf5
