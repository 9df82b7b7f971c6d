#include "isobar/hdf5/cf_calendar.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <utility>
#include <vector>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"

namespace isobar::hdf5 {
namespace {

constexpr std::int64_t latest_year = 200'000;
constexpr std::int64_t reform_day = 578'101;  // 1582-10-15 in gregorian_days: the first day of the new calendar

constexpr std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

bool is_leap(Calendar calendar, std::int64_t year) {
  const bool fourth = year % 4 == 0, new_rule = fourth && (year % 100 != 0 || year % 400 == 0);
  switch (calendar) {
    case Calendar::standard: return year <= 1582 ? fourth : new_rule;
    case Calendar::proleptic_gregorian: return new_rule;
    case Calendar::julian: return fourth;
    case Calendar::all_leap: return true;
    default: return false;
  }
}

int month_days(Calendar calendar, std::int64_t year, int month) {
  if (calendar == Calendar::day_360) return 30;
  constexpr std::array days{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return days[month - 1] + (month == 2 && is_leap(calendar, year));
}

// Days from 0000-01-01 to the beginning of a year; Julian days are offset so that the reform leaves no gap.
std::int64_t days_before(Calendar calendar, std::int64_t year) {
  const std::int64_t julian = 365 * year + floor_divide(year + 3, 4) - 2;
  switch (calendar) {
    case Calendar::standard:
      if (year <= 1582) return julian;
      [[fallthrough]];
    case Calendar::proleptic_gregorian:
      return 365 * year + floor_divide(year + 3, 4) - floor_divide(year + 99, 100) + floor_divide(year + 399, 400);
    case Calendar::julian: return julian;
    case Calendar::noleap: return 365 * year;
    case Calendar::all_leap: return 366 * year;
    case Calendar::day_360: return 360 * year;
  }
  return 0;
}

// A position in a text that is read from left to right.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  bool at_end() const { return rest_.empty(); }
  bool take(char c) {
    if (rest_.empty() || std::tolower(static_cast<unsigned char>(rest_[0])) != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool take_word(std::string_view word) {
    Scanner ahead = *this;
    for (const char c : word)
      if (!ahead.take(c)) return false;
    *this = ahead;
    return true;
  }
  void skip_spaces() {
    while (take(' ') || take('\t')) {
    }
  }
  bool at_digit() const { return !rest_.empty() && std::isdigit(static_cast<unsigned char>(rest_[0])); }
  /// An integer of at most `most` digits; -1 if there is none.
  std::int64_t digits(std::size_t most, std::size_t* count = nullptr) {
    std::size_t n = 0;
    while (n < rest_.size() && std::isdigit(static_cast<unsigned char>(rest_[n]))) ++n;
    std::int64_t value = -1;
    if (n > 0 && n <= most) std::from_chars(rest_.data(), rest_.data() + n, value);
    else if (n > most) return -1;
    rest_.remove_prefix(n);
    if (count) *count = n;
    return value;
  }

 private:
  std::string_view rest_;
};

// Scans what follows the date: time of day and zone. False if the text is something else.
bool scan_time(Scanner& scan, Date& date, std::int64_t& zone_minutes) {
  scan.skip_spaces();
  if (scan.at_digit()) {
    date.hour = scan.digits(2);
    if (scan.take(':')) date.minute = scan.digits(2);
    std::int64_t seconds = 0, fraction = 0;
    if (scan.take(':')) {
      seconds = scan.digits(2);
      if (scan.take('.')) {
        std::size_t count = 0;
        if (scan.at_digit()) fraction = scan.digits(15, &count);
        for (; count < 6; ++count) fraction *= 10;
        for (; count > 6; --count) fraction /= 10;
      }
    }
    if (date.hour < 0 || date.minute < 0 || seconds < 0 || fraction < 0) return false;
    date.microsecond = seconds * microseconds_per_second + fraction;
  }
  scan.skip_spaces();
  if (scan.take_word("utc") || scan.take_word("gmt") || scan.take('z')) scan.skip_spaces();
  const bool east = scan.take('+'), west = !east && scan.take('-');
  if (east || west) {
    std::size_t count = 0;
    std::int64_t hours = scan.digits(4, &count), minutes = 0;
    if (count > 2) minutes = hours % 100, hours /= 100;
    else if (scan.take(':')) minutes = scan.digits(2);
    if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return false;
    zone_minutes = (east ? 1 : -1) * (60 * hours + minutes);
  }
  scan.skip_spaces();
  return scan.at_end();
}

constexpr std::array<std::pair<std::string_view, Calendar>, 9> calendars{
    {{"standard", Calendar::standard},
     {"gregorian", Calendar::standard},
     {"proleptic_gregorian", Calendar::proleptic_gregorian},
     {"julian", Calendar::julian},
     {"noleap", Calendar::noleap},
     {"365_day", Calendar::noleap},
     {"all_leap", Calendar::all_leap},
     {"366_day", Calendar::all_leap},
     {"360_day", Calendar::day_360}}};

}  // namespace

Calendar calendar_of(std::string_view name) {
  if (name.empty()) return Calendar::standard;
  std::string lower(name);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::vector<std::string> known;
  for (const auto& [word, calendar] : calendars) {
    if (word == lower) return calendar;
    known.emplace_back(word);
  }
  fail("the calendar '{}' is not known{}", one_line(name), suggestion(lower, known));
}

std::string_view name_of(Calendar calendar) {
  for (const auto& [word, known] : calendars)
    if (known == calendar) return word;
  return "";
}

std::string Date::str() const {
  const std::int64_t second = microsecond / microseconds_per_second, rest = microsecond % microseconds_per_second;
  std::string text = fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}", year, month, day, hour, minute, second);
  return rest == 0 ? text : text + fmt::format(".{:06}", rest);
}

Instant instant_of(Calendar calendar, const Date& date) {
  const bool fits = date.year >= -latest_year && date.year <= latest_year && date.month >= 1 && date.month <= 12 &&
                    date.day >= 1 && date.day <= month_days(calendar, date.year, date.month) && date.hour >= 0 &&
                    date.hour <= 24 && date.minute >= 0 && date.minute < 60 && date.microsecond >= 0 &&
                    date.microsecond < 60 * microseconds_per_second &&
                    (date.hour < 24 || (date.minute == 0 && date.microsecond == 0));
  const bool october = calendar == Calendar::standard && date.year == 1582 && date.month == 10;
  if (!fits || (october && date.day > 4 && date.day < 15))
    fail("there is no {} in the calendar {}", date.str(), name_of(calendar));
  std::int64_t days = days_before(calendar, date.year) + date.day - 1;
  for (int month = 1; month < date.month; ++month) days += month_days(calendar, date.year, month);
  if (calendar == Calendar::standard && date.year == 1582 && days >= reform_day + 10) days -= 10;
  return days * microseconds_per_day + (date.hour * 60 + date.minute) * 60 * microseconds_per_second + date.microsecond;
}

Date date_of(Calendar calendar, Instant instant) {
  std::int64_t days = floor_divide(instant, microseconds_per_day);
  std::int64_t rest = instant - days * microseconds_per_day;
  if (calendar == Calendar::standard) calendar = days < reform_day ? Calendar::julian : Calendar::proleptic_gregorian;
  Date date{.year = floor_divide(days, 366)};
  while (days_before(calendar, date.year + 1) <= days)
    date.year += 1 + (days - days_before(calendar, date.year + 1)) / 367;
  while (days_before(calendar, date.year) > days) --date.year;
  days -= days_before(calendar, date.year);
  for (; days >= month_days(calendar, date.year, date.month); ++date.month)
    days -= month_days(calendar, date.year, date.month);
  date.day = static_cast<int>(days) + 1;
  constexpr std::int64_t per_minute = 60 * microseconds_per_second;
  date.microsecond = rest % per_minute;
  rest /= per_minute;
  date.hour = rest / 60, date.minute = rest % 60;
  return date;
}

Instant parse_instant(Calendar calendar, std::string_view text) {
  Scanner scan(text);
  Date date;
  std::int64_t zone_minutes = 0;
  scan.skip_spaces();
  const bool before_zero = scan.take('-');
  date.year = scan.digits(6);
  bool read = date.year >= 0;
  if (before_zero) date.year = -date.year;
  if (read && scan.take('-')) {
    date.month = scan.digits(2);
    if (scan.take('-')) {
      date.day = scan.digits(2);
      if (!scan.take('t')) scan.take('_');
      read = scan_time(scan, date, zone_minutes);
    }
  }
  scan.skip_spaces();
  if (!read || !scan.at_end())
    fail("'{}' is not a date; valid: 2005, 2005-01, 2005-01-23, '2005-01-23 06:00:00'", one_line(text));
  return instant_of(calendar, date) - zone_minutes * 60 * microseconds_per_second;
}

}  // namespace isobar::hdf5
