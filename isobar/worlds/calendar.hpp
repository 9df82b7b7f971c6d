// The calendar of climate models: every year has 365 days ("noleap"). Hours are counted from 2000-01-01 00 UTC.
#pragma once

#include <cstdint>
#include <string_view>

namespace isobar::worlds {

/// A date and hour.
struct WorldDate {
  int year, month, day, hour;
  bool operator==(const WorldDate&) const = default;
};

/// The date of an hour; hours before 2000 are negative.
WorldDate date_of(std::int64_t hour);

/// The hour of a valid date.
std::int64_t hour_of(const WorldDate& date);

/// Reads YYYY-MM-DD; throws UsageError for a day the calendar does not have.
std::int64_t hour_of(std::string_view text);

/// Days since 1 January, from 0 to 365, with the fraction.
double day_of_year(std::int64_t hour);

}  // namespace isobar::worlds
