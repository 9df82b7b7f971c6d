#include "isobar/hdf5/cf_time.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <string>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"

namespace isobar::hdf5 {
namespace {

constexpr Instant second = microseconds_per_second;

struct Unit {
  std::string_view name;
  Instant microseconds;
};

constexpr std::array units_known{Unit{"microsecond", 1},
                                 Unit{"microsec", 1},
                                 Unit{"millisecond", 1000},
                                 Unit{"millisec", 1000},
                                 Unit{"msec", 1000},
                                 Unit{"ms", 1000},
                                 Unit{"second", second},
                                 Unit{"sec", second},
                                 Unit{"s", second},
                                 Unit{"minute", 60 * second},
                                 Unit{"min", 60 * second},
                                 Unit{"hour", 3600 * second},
                                 Unit{"hr", 3600 * second},
                                 Unit{"h", 3600 * second},
                                 Unit{"day", 86400 * second},
                                 Unit{"d", 86400 * second},
                                 Unit{"week", 7 * 86400 * second}};

std::string lower(std::string_view text) {
  std::string made(text);
  std::ranges::transform(made, made.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return made;
}

// The position of "since" in a text, between spaces; npos if it is absent.
std::size_t since_at(const std::string& text) {
  const std::size_t at = text.find(" since ");
  return at == std::string::npos ? at : at + 1;
}

Instant unit_length(const std::string& word, std::string_view units, Calendar calendar) {
  const std::string one =
      word.size() > 1 && word.ends_with('s') && word != "ms" ? word.substr(0, word.size() - 1) : word;
  for (const Unit& unit : units_known)
    if (unit.name == one) return unit.microseconds;
  const bool month = one == "month", year = one == "year" || one == "yr", common_year = one == "common_year";
  if (calendar == Calendar::day_360 && (month || year)) return (month ? 30 : 360) * microseconds_per_day;
  if (common_year || (year && calendar == Calendar::noleap)) return 365 * microseconds_per_day;
  if (year && calendar == Calendar::all_leap) return 366 * microseconds_per_day;
  if (month || year)
    fail("units of time '{}': a {} has no fixed length in the calendar {}; convert the times to days", one_line(units),
         one, name_of(calendar));
  fail("units of time '{}': '{}' is not known; valid: days, hours, minutes, seconds, milliseconds, microseconds",
       one_line(units), one_line(word));
}

}  // namespace

bool CfTime::looks_like(std::string_view units) { return since_at(lower(units)) != std::string::npos; }

CfTime::CfTime(std::string_view units, Calendar calendar) : calendar_(calendar) {
  const std::string text = lower(units);
  const std::size_t at = since_at(text);
  if (at == std::string::npos)
    fail("'{}' are not units of time; valid: 'hours since 1900-01-01 00:00:00'", one_line(units));
  std::string word = text.substr(0, at);
  word.erase(std::remove_if(word.begin(), word.end(), [](unsigned char c) { return std::isspace(c); }), word.end());
  unit_ = unit_length(word, units, calendar);
  origin_ = parse_instant(calendar, std::string_view(text).substr(at + 6));
}

Instant CfTime::instant(double number) const {
  const auto unit = static_cast<double>(unit_);
  // Beyond this there is no date: 200,000 years.
  if (!(std::abs(number) * unit < 6.3e18)) fail("the time {} is not a date: too far away or not a number", number);
  // Whole units and the rest are converted separately: their sum would not be exact in a double.
  const double whole = std::floor(number);
  Instant since = static_cast<Instant>(whole) * unit_ + std::llround((number - whole) * unit);
  const Instant seconds = (since + (since >= 0 ? second / 2 : -second / 2)) / second * second;
  if (std::abs(since - seconds) <= second / 1000) since = seconds;
  Instant made = 0;
  if (__builtin_add_overflow(origin_, since, &made)) fail("the time {} is not a date: too far away", number);
  return made;
}

double CfTime::number(Instant instant) const {
  const Instant since = instant - origin_;
  return static_cast<double>(since / unit_) + static_cast<double>(since % unit_) / static_cast<double>(unit_);
}

}  // namespace isobar::hdf5
