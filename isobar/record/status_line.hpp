// StatusLine: shows the progress of a long job. On a terminal the line is redrawn in place; elsewhere it is printed as
// an ordinary line now and then, so that logs stay readable.
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
  std::function<int()> columns{};   ///< called at every redraw: windows change
  std::function<double()> clock{};  ///< seconds

  /// The screen for an open file; its clock is now_seconds().
  static Screen of(std::FILE* file);
};

class StatusLine {
 public:
  /// On a terminal the first status is shown at once, elsewhere after the usual time between two lines.
  explicit StatusLine(Screen screen);
  /// Leaves no half-drawn line.
  ~StatusLine() { clear(); }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  /// Whether it is time for the next status: at most ten per second on a terminal, elsewhere one every ten seconds.
  bool due() const;
  /// Whether a status is redrawn in place.
  bool live() const { return screen_.terminal; }
  /// The maximum width of a status: that of the terminal, elsewhere unlimited.
  std::size_t columns() const;
  /// Shows the status, cut to the width of the terminal; ASCII only.
  void show(std::string_view status);
  /// Prints a permanent line.
  void print(std::string_view line);
  /// Removes the status, if there is one.
  void clear();

 private:
  Screen screen_;
  double shown_at_;
  bool drawn_ = false;
};

/// "[=====>    ]": how much of `all` is done.
std::string bar(double done, double all, int columns);

}  // namespace isobar::record
