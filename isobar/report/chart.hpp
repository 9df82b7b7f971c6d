// Chart: what the pictures of a page share: a drawing that takes the page's colours, axes around a plot, the colours of
// categories. A chart is drawn twice, for wide and for narrow screens, so that its text stays readable on both.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isobar/base/trace.hpp"
#include "isobar/pictures/axis.hpp"

namespace isobar::report {

/// The widths charts are drawn in, in the units text is 12 of.
inline constexpr double wide_chart = 1130, narrow_chart = 368;

/// An SVG drawing for a page; `label` says what it shows to those who cannot see it.
std::string chart_svg(double width, double height, std::string_view label, std::string_view inside);

/// What `draw` makes of both widths, each shown on screens of its kind.
std::string both_widths(const std::function<std::string(double width)>& draw);

/// Where things are plotted, inside a chart.
struct PlotArea {
  double left, top, width, height;
  double x(double place) const { return left + width * place; }
  double y(double place) const { return top + height * (1 - place); }
};

/// A line of the grid: where it stands, from 0 to 1, and what is written at its end; nothing: a line only.
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

/// The CSS class of a category's colour, by its name; unknown names get the one of idle.
std::string_view category_class(std::string_view category);

/// A list of coloured squares with names, of the categories given.
std::string category_legend(std::span<const std::string> categories);

/// A rectangle in the colour of a category that tells `title` when pointed at.
std::string category_bar(double x, double y, double width, double height, std::string_view category,
                         std::string_view title);

}  // namespace isobar::report
