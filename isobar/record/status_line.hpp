// StatusLine: the line that tells how far a long job is. On a terminal it is redrawn in place; elsewhere it becomes an
// ordinary line now and then, so that a log stays readable.
#pragma once

#include <cstdio>
#include <functional>
#include <string>
#include <string_view>

namespace isobar::record {

/// Where text is shown, and the clock that decides how often.
struct Screen {
  std::FILE* file = stdout;
  bool terminal = false;
  std::function<int()> columns{};   ///< asked at every redrawing: windows change
  std::function<double()> clock{};  ///< seconds

  /// The screen behind an open file; its clock is now_seconds().
  static Screen of(std::FILE* file);
};

class StatusLine {
 public:
  /// The first status is shown at once on a terminal, and elsewhere after the time between two lines.
  explicit StatusLine(Screen screen);
  /// Leaves no half-drawn line behind.
  ~StatusLine() { clear(); }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  /// Whether the next status is wanted yet: at most ten a second on a terminal, elsewhere one every ten seconds.
  bool due() const;
  /// Whether a status is redrawn in place.
  bool live() const { return screen_.terminal; }
  /// How many columns a status can have: those of the terminal, elsewhere any number.
  std::size_t columns() const;
  /// Shows the status, cut to the width of the terminal; ASCII only.
  void show(std::string_view status);
  /// Prints a line that stays.
  void print(std::string_view line);
  /// Takes the status away; a no-op when there is none.
  void clear();

 private:
  Screen screen_;
  double shown_at_;
  bool drawn_ = false;
};

/// "[=====>    ]": how much of `all` is done.
std::string bar(double done, double all, int columns);

}  // namespace isobar::record
