// Chart: what the charts of a page share: a drawing in the colours of the page, axes around a plot, the colours of
// categories. A chart is drawn twice, for wide and for narrow screens, so that its text is readable on both.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isobar/base/trace.hpp"
#include "isobar/pictures/axis.hpp"

namespace isobar::report {

/// The widths of charts, in units of which the text is 12 high.
inline constexpr double wide_chart = 1130, narrow_chart = 368;

/// An SVG drawing for a page; `label` describes it for screen readers.
std::string chart_svg(double width, double height, std::string_view label, std::string_view inside);

/// The chart drawn in both widths, each shown on screens of its kind.
std::string both_widths(const std::function<std::string(double width)>& draw);

/// The plot area inside a chart.
struct PlotArea {
  double left, top, width, height;
  double x(double place) const { return left + width * place; }
  double y(double place) const { return top + height * (1 - place); }
};

/// A grid line: its position, from 0 to 1, and its label; empty: the line alone.
struct Tick {
  double place;
  std::string label{};
};

std::vector<Tick> ticks_of(const pictures::Axis& axis);
/// Powers of ten on an axis over logarithms.
std::vector<Tick> power_ticks(const pictures::Axis& logarithms);

/// Grid, frame, the ticks' labels below and on the left, and the names of the axes.
std::string drawn_axes(const PlotArea& plot, std::span<const Tick> below, std::span<const Tick> left,
                       std::string_view below_name, std::string_view left_name);

/// The CSS class of a category's colour, by its name; unknown names get that of idle.
std::string_view category_class(std::string_view category);

/// A list of coloured squares with the names of these categories.
std::string category_legend(std::span<const std::string> categories);

/// A rectangle in the colour of a category that shows `title` when hovered over.
std::string category_bar(double x, double y, double width, double height, std::string_view category,
                         std::string_view title);

}  // namespace isobar::report
