#include "isobar/pictures/scatter.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "isobar/base/error.hpp"
#include "isobar/pictures/axis.hpp"

namespace isobar::pictures {
namespace {

constexpr int label_columns = 6;

// The cell of a value on an axis of `cells`, counted from the low end.
int cell(const Axis& axis, double value, int cells) {
  return std::clamp(static_cast<int>(axis.place(value) * cells), 0, cells - 1);
}

std::vector<std::string> canvas(const Series& series, const Axis& axis, int columns, int rows) {
  std::vector<std::string> lines(rows, std::string(columns, ' '));
  std::vector<int> counts(columns * rows, 0);
  const auto at = [&](int column, int row) -> char& { return lines[rows - 1 - row][column]; };
  for (int c = 0; c < columns; ++c) at(c, (2 * c + 1) * rows / (2 * columns)) = '.';
  for (std::size_t i = 0; i < series.truth.size(); ++i) {
    if (!std::isfinite(series.truth[i]) || !std::isfinite(series.predicted[i])) continue;
    const int column = cell(axis, series.truth[i], columns), row = cell(axis, series.predicted[i], rows);
    const int count = ++counts[row * columns + column];
    at(column, row) = count == 1 ? 'o' : count <= 3 ? 'O' : '@';
  }
  return lines;
}

// All lines of a panel have the same width.
std::vector<std::string> text_panel(const Series& series, int columns, int rows) {
  const Axis axis = axis_over(series.truth, series.predicted, 5);
  const std::string low = fmt::format("{:.2g}", axis.low), high = fmt::format("{:.2g}", axis.high);
  const double fit = r2(series);
  const std::string score = std::isfinite(fit) ? fmt::format("R2 = {:.2f}", fit) : "";
  const std::size_t name_columns = std::max<std::int64_t>(0, columns - std::ssize(score) - 1);
  std::vector<std::string> lines{
      fmt::format("{:{}} {:<{}} {}", "", label_columns, series.name.substr(0, name_columns), name_columns, score)};
  const std::vector<std::string> inside = canvas(series, axis, columns, rows);
  for (std::size_t r = 0; r < inside.size(); ++r) {
    const std::string_view label = r == 0 ? high : r + 1 == inside.size() ? low : std::string_view();
    lines.push_back(fmt::format("{:>{}}|{}", label, label_columns, inside[r]));
  }
  lines.push_back(fmt::format("{:{}}+{:->{}}", "", label_columns, "", columns));
  const int left = std::ssize(low), right = std::ssize(high);
  lines.push_back(
      fmt::format("{:{}} {}{:^{}}{}", "", label_columns, low, "true", std::max(0, columns - left - right), high));
  return lines;
}

}  // namespace

std::string scatter_text(std::span<const Series> all, int columns, int rows) {
  expects(columns >= 16 && rows >= 2, "room for a plot");
  std::vector<std::string> lines;
  for (const Series& series : all) {
    const std::vector<std::string> more = text_panel(series, columns, rows);
    lines.resize(more.size());
    for (std::size_t i = 0; i < more.size(); ++i) lines[i] += (lines[i].empty() ? "" : " ") + more[i];
  }
  std::string text;
  for (const std::string& line : lines) text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  return text;
}

}  // namespace isobar::pictures
