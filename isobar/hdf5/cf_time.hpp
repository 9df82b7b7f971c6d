// CfTime: the units of a time coordinate of the CF conventions, "hours since 1900-01-01 00:00:0.0", and its calendar:
// from numbers to instants and back. Months and years have no fixed length, so they are refused, except in calendars
// where all months or years are equally long.
#pragma once

#include <string_view>

#include "isobar/hdf5/cf_calendar.hpp"

namespace isobar::hdf5 {

class CfTime {
 public:
  /// Reads units; what is none is an Error that says why.
  CfTime(std::string_view units, Calendar calendar);

  /// Whether a text looks like units of time: "... since ...".
  static bool looks_like(std::string_view units);

  Calendar calendar() const { return calendar_; }
  /// The instant of a number; one that is not finite, or too far away, is an Error. Within a millisecond of a whole
  /// second it is that second: fractions of a day are not exact.
  Instant instant(double number) const;
  /// The number of an instant.
  double number(Instant instant) const;

 private:
  Calendar calendar_;
  Instant unit_ = 0, origin_ = 0;
};

}  // namespace isobar::hdf5
