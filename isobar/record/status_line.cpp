#include "isobar/record/status_line.hpp"

#include <algorithm>
#include <limits>
#include <sys/ioctl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "isobar/base/clock.hpp"

namespace isobar::record {
namespace {

constexpr double redraw_seconds = 0.1, line_seconds = 10;

int terminal_columns(std::FILE* file) {
  winsize size{};
  if (ioctl(fileno(file), TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

}  // namespace

Screen Screen::of(std::FILE* file) {
  return {file, isatty(fileno(file)) == 1, [file] { return terminal_columns(file); }, now_seconds};
}

StatusLine::StatusLine(Screen screen) : screen_(std::move(screen)) {
  shown_at_ = screen_.terminal ? screen_.clock() - redraw_seconds : screen_.clock();
}

bool StatusLine::due() const {
  return screen_.clock() - shown_at_ >= (screen_.terminal ? redraw_seconds : line_seconds);
}

std::size_t StatusLine::columns() const {
  // The last column stays free: some terminals wrap as soon as it is used.
  return screen_.terminal ? static_cast<std::size_t>(std::max(1, screen_.columns() - 1))
                          : std::numeric_limits<std::size_t>::max();
}

void StatusLine::show(std::string_view status) {
  shown_at_ = screen_.clock();
  if (!screen_.terminal) {
    print(status);
    return;
  }
  fmt::print(screen_.file, "\r{}\x1b[K", status.substr(0, columns()));
  std::fflush(screen_.file);
  drawn_ = true;
}

void StatusLine::print(std::string_view line) {
  clear();
  fmt::print(screen_.file, "{}\n", line);
  std::fflush(screen_.file);
}

void StatusLine::clear() {
  if (!drawn_) return;
  std::fputs("\r\x1b[K", screen_.file);
  std::fflush(screen_.file);
  drawn_ = false;
}

std::string bar(double done, double all, int columns) {
  const double part = all > 0 ? std::clamp(done / all, 0.0, 1.0) : 0;
  const auto filled = static_cast<std::size_t>(part * columns);
  std::string text(columns, ' ');
  std::fill_n(text.begin(), filled, '=');
  if (filled < text.size() && part > 0) text[filled] = '>';
  return "[" + text + "]";
}

}  // namespace isobar::record
