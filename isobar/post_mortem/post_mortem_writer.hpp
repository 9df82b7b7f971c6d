// PostMortemWriter: the layout of a post-mortem report. It can be used in a signal handler: it neither allocates nor
// locks, and passes every piece of text to a plain function.
#pragma once

#include <cstdint>
#include <string_view>

namespace isobar::post_mortem {

/// A number for a report, with at least so many digits.
struct Digits {
  explicit Digits(std::uint64_t number, int digits = 1) : value(number), least(digits) {}
  std::uint64_t value;
  int least;
};
/// An address for a report: "0x7ffd12".
struct Hexadecimal {
  std::uint64_t value = 0;
};

class PostMortemWriter {
 public:
  using Put = void (*)(void* to, std::string_view text);
  PostMortemWriter(Put how, void* to) : put_(how), to_(to) {}

  /// "post-mortem of rank 3, told by the launcher, 2026-11-16 14:30:12 UTC".
  void heading(int rank, std::string_view told_by, std::int64_t unix_seconds);
  /// "cause:    died of signal 9".
  void fact(std::string_view name, std::string_view text);
  void section(std::string_view title);
  /// One line of a section; it shows `seconds_ago` unless that is negative.
  void line(std::string_view text, double seconds_ago = -1);
  /// Closes the report.
  void end() { put("\n"); }

  /// Puts texts and numbers, one after the other.
  template <class... Parts>
  void put(const Parts&... parts) {
    (one(parts), ...);
  }

 private:
  void one(std::string_view text) { put_(to_, text); }
  void one(Digits number);
  void one(Hexadecimal number);

  Put put_;
  void* to_;
};

}  // namespace isobar::post_mortem
