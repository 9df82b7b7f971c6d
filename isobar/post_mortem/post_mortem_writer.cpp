#include "isobar/post_mortem/post_mortem_writer.hpp"

#include <algorithm>
#include <chrono>

namespace isobar::post_mortem {

void PostMortemWriter::one(Digits number) {
  char text[20];
  char* first = text + sizeof text;
  for (; number.value != 0 || number.least > 0; number.value /= 10, --number.least)
    *--first = static_cast<char>('0' + number.value % 10);
  one({first, text + sizeof text});
}

void PostMortemWriter::one(Hexadecimal number) {
  char text[18];
  char* first = text + sizeof text;
  do *--first = "0123456789abcdef"[number.value % 16];
  while (number.value /= 16);
  *--first = 'x';
  *--first = '0';
  one({first, text + sizeof text});
}

// Computes the calendar date itself, because the C library's functions take a lock.
void PostMortemWriter::heading(int rank, std::string_view told_by, std::int64_t unix_seconds) {
  using namespace std::chrono;
  const sys_seconds when{seconds(unix_seconds)};
  const sys_days day = floor<days>(when);
  const year_month_day date(day);
  const hh_mm_ss time(when - day);
  put("post-mortem of rank ", Digits(std::max(rank, 0)), ", told by ", told_by, ", ");
  put(Digits(int(date.year()), 4), "-", Digits(unsigned(date.month()), 2), "-", Digits(unsigned(date.day()), 2), " ");
  put(Digits(time.hours().count(), 2), ":", Digits(time.minutes().count(), 2), ":", Digits(time.seconds().count(), 2));
  put(" UTC\n");
}

void PostMortemWriter::fact(std::string_view name, std::string_view text) {
  constexpr std::size_t column = 10;
  put(name, ":", std::string_view("          ").substr(0, column - std::min(column - 1, name.size() + 1)), text, "\n");
}

void PostMortemWriter::section(std::string_view title) { put("\n", title, "\n"); }

void PostMortemWriter::line(std::string_view text, double seconds_ago) {
  put("  ");
  if (seconds_ago >= 0) {
    const auto milliseconds = static_cast<std::uint64_t>(seconds_ago * 1e3);
    put("-", Digits(milliseconds / 1000), ".", Digits(milliseconds % 1000, 3), " s  ");
  }
  put(text, "\n");
}

}  // namespace isobar::post_mortem
