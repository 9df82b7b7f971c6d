#include "isobar/post_mortem/post_mortem_writer.hpp"

#include <algorithm>
#include <chrono>

namespace isobar::post_mortem {

void PostMortemWriter::number(std::uint64_t value, int digits) {
  char text[20];
  char* first = text + sizeof text;
  for (; value != 0 || digits > 0; value /= 10, --digits) *--first = static_cast<char>('0' + value % 10);
  put({first, text + sizeof text});
}

void PostMortemWriter::hexadecimal(std::uint64_t value) {
  char text[18];
  char* first = text + sizeof text;
  do *--first = "0123456789abcdef"[value % 16];
  while (value /= 16);
  *--first = 'x';
  *--first = '0';
  put({first, text + sizeof text});
}

// Computes the calendar date itself, because the C library's functions take a lock.
void PostMortemWriter::heading(int rank, std::string_view told_by, std::int64_t unix_seconds) {
  using namespace std::chrono;
  const sys_seconds when{seconds(unix_seconds)};
  const sys_days day = floor<days>(when);
  const year_month_day date(day);
  const hh_mm_ss time(when - day);
  put("post-mortem of rank ");
  number(std::max(rank, 0));
  put(", told by ");
  put(told_by);
  put(", ");
  number(static_cast<int>(date.year()), 4);
  put("-");
  number(static_cast<unsigned>(date.month()), 2);
  put("-");
  number(static_cast<unsigned>(date.day()), 2);
  put(" ");
  number(time.hours().count(), 2);
  put(":");
  number(time.minutes().count(), 2);
  put(":");
  number(time.seconds().count(), 2);
  put(" UTC\n");
}

void PostMortemWriter::fact(std::string_view name, std::string_view text) {
  constexpr std::size_t column = 10;
  put(name);
  put(":");
  put(std::string_view("          ").substr(0, column - std::min(column - 1, name.size() + 1)));
  put(text);
  put("\n");
}

void PostMortemWriter::section(std::string_view title) {
  put("\n");
  put(title);
  put("\n");
}

void PostMortemWriter::line(std::string_view text, double seconds_ago) {
  put("  ");
  if (seconds_ago >= 0) {
    const auto milliseconds = static_cast<std::uint64_t>(seconds_ago * 1e3);
    put("-");
    number(milliseconds / 1000);
    put(".");
    number(milliseconds % 1000, 3);
    put(" s  ");
  }
  put(text);
  put("\n");
}

}  // namespace isobar::post_mortem
