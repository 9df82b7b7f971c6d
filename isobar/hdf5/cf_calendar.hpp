// The calendars of the CF conventions: dates to instants and back. An instant is a number of microseconds; in the three
// calendars of the real world equal instants are the same moment, the others count from their own 0000-01-01. There is
// a year 0. The standard calendar is Julian up to 1582-10-04; the next day is 1582-10-15.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace isobar::hdf5 {

enum class Calendar { standard, proleptic_gregorian, julian, noleap, all_leap, day_360 };

/// The calendar with this CF name, in upper or lower case; "" is the standard calendar, an unknown name an Error.
Calendar calendar_of(std::string_view name);

/// "standard", "proleptic_gregorian", "julian", "noleap", "all_leap", "360_day".
std::string_view name_of(Calendar calendar);

/// A date and a time of day.
struct Date {
  std::int64_t year = 0;
  int month = 1, day = 1, hour = 0, minute = 0;
  std::int64_t microsecond = 0;  ///< within the minute, so it includes the seconds

  bool operator==(const Date&) const = default;
  /// "2005-01-23 06:00:00", with a fraction of the second if there is one.
  std::string str() const;
};

/// Microseconds.
using Instant = std::int64_t;

inline constexpr Instant microseconds_per_second = 1'000'000;
inline constexpr Instant microseconds_per_day = 86'400 * microseconds_per_second;

/// A date the calendar does not have (1582-10-10, the 30th of February), or one beyond 200,000 years, is an Error.
Instant instant_of(Calendar calendar, const Date& date);
Date date_of(Calendar calendar, Instant instant);

/// Reads "2005", "2005-01", "2005-01-23", "2005-01-23T06:00:00.5Z", "1900-1-1 00:00:0.0 +01:00": omitted parts take
/// their first value, an omitted time zone is UTC.
Instant parse_instant(Calendar calendar, std::string_view text);

}  // namespace isobar::hdf5
