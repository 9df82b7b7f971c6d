#include "isobar/worlds/calendar.hpp"

#include <array>
#include <cstdio>
#include <string>

#include "isobar/base/error.hpp"

namespace isobar::worlds {
namespace {

constexpr std::array<int, 12> month_days{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
constexpr std::int64_t year_hours = 365 * 24;

std::int64_t year_before(std::int64_t hour) {
  return hour >= 0 ? hour / year_hours : -((year_hours - 1 - hour) / year_hours);
}

bool exists(const WorldDate& date) {
  return date.year >= 0 && date.year <= 9999 && date.month >= 1 && date.month <= 12 && date.day >= 1 &&
         date.day <= month_days[date.month - 1] && date.hour >= 0 && date.hour < 24;
}

}  // namespace

WorldDate date_of(std::int64_t hour) {
  const std::int64_t years = year_before(hour), rest = hour - years * year_hours;
  int day = rest / 24;
  std::size_t month = 0;
  while (day >= month_days[month]) day -= month_days[month++];
  return {static_cast<int>(2000 + years), static_cast<int>(month) + 1, day + 1, static_cast<int>(rest % 24)};
}

std::int64_t hour_of(const WorldDate& date) {
  expects(exists(date), "a date of the calendar");
  std::int64_t days = std::int64_t{date.year - 2000} * 365 + date.day - 1;
  for (int month = 1; month < date.month; ++month) days += month_days[month - 1];
  return days * 24 + date.hour;
}

std::int64_t hour_of(std::string_view text) {
  WorldDate date{};
  int used = 0;
  const std::string copy(text);
  if (std::sscanf(copy.c_str(), "%4d-%2d-%2d%n", &date.year, &date.month, &date.day, &used) != 3 ||
      used != std::ssize(copy) || !exists(date))
    fail_usage("'{}' is not a day of a 365-day year; valid is YYYY-MM-DD, such as 2000-07-15", text);
  return hour_of(date);
}

double day_of_year(std::int64_t hour) { return static_cast<double>(hour - year_before(hour) * year_hours) / 24.0; }

}  // namespace isobar::worlds
