#include "isobar/report/chart.hpp"

#include <cmath>

#include <fmt/format.h>

#include "isobar/base/html_text.hpp"

namespace isobar::report {

std::string chart_svg(double width, double height, std::string_view label, std::string_view inside) {
  return fmt::format(
      "<svg class=\"chart\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" "
      "aria-label=\"{}\">\n{}</svg>\n",
      width, height, html_text(label), inside);
}

std::string both_widths(const std::function<std::string(double width)>& draw) {
  return fmt::format("<div class=\"wide\">\n{}</div>\n<div class=\"narrow\">\n{}</div>\n", draw(wide_chart),
                     draw(narrow_chart));
}

std::vector<Tick> ticks_of(const pictures::Axis& axis) {
  std::vector<Tick> ticks;
  for (const double tick : axis.ticks()) ticks.push_back({axis.place(tick), axis.label(tick)});
  return ticks;
}

std::vector<Tick> power_ticks(const pictures::Axis& logarithms) {
  std::vector<Tick> ticks;
  for (double power = std::ceil(logarithms.low); power <= logarithms.high; ++power) {
    const int exponent = static_cast<int>(power);
    ticks.push_back(
        {logarithms.place(power), exponent >= 6 || exponent <= -4
                                      ? fmt::format("1e{}", exponent)
                                      : fmt::format("{:.{}f}", std::pow(10, exponent), exponent < 0 ? -exponent : 0)});
  }
  return ticks;
}

std::string drawn_axes(const PlotArea& plot, std::span<const Tick> below, std::span<const Tick> left,
                       std::string_view below_name, std::string_view left_name) {
  const double bottom = plot.top + plot.height;
  std::string text;
  for (const Tick& tick : below) {
    text += fmt::format(R"(<line class="grid" x1="{0:.1f}" y1="{1:.1f}" x2="{0:.1f}" y2="{2:.1f}"/>)",
                        plot.x(tick.place), plot.top, bottom);
    text += fmt::format(R"(<text class="tick" x="{:.1f}" y="{:.1f}" text-anchor="middle">{}</text>)",
                        plot.x(tick.place), bottom + 16, html_text(tick.label));
  }
  for (const Tick& tick : left) {
    text += fmt::format(R"(<line class="grid" x1="{1:.1f}" y1="{0:.1f}" x2="{2:.1f}" y2="{0:.1f}"/>)",
                        plot.y(tick.place), plot.left, plot.left + plot.width);
    text += fmt::format(R"(<text class="tick" x="{:.1f}" y="{:.1f}" text-anchor="end">{}</text>)", plot.left - 7,
                        plot.y(tick.place) + 4, html_text(tick.label));
  }
  text += fmt::format(R"(<rect class="frame" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"/>)", plot.left,
                      plot.top, plot.width, plot.height);
  if (!below_name.empty())
    text += fmt::format(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="middle">{}</text>)", plot.x(0.5), bottom + 35,
                        html_text(below_name));
  if (!left_name.empty())
    text += fmt::format(R"(<text x="{:.1f}" y="{:.1f}">{}</text>)", 0.0, plot.top - 10, html_text(left_name));
  return text + "\n";
}

std::string_view category_class(std::string_view category) {
  static constexpr std::string_view classes[category_count] = {"c0", "c1", "c2", "c3", "c4",
                                                               "c5", "c6", "c7", "c8", "c9"};
  for (int c = 0; c < category_count; ++c)
    if (category_name(static_cast<Category>(c)) == category) return classes[c];
  return classes[category_count - 1];
}

std::string category_legend(std::span<const std::string> categories) {
  std::string text = "<ul class=\"key\">";
  for (const std::string& category : categories)
    text += fmt::format("<li><i class=\"{}\"></i>{}</li>", category_class(category), html_text(category));
  return text + "</ul>\n";
}

std::string category_bar(double x, double y, double width, double height, std::string_view category,
                         std::string_view title) {
  return fmt::format(
      R"(<rect class="{}" x="{:.2f}" y="{:.1f}" width="{:.2f}" height="{:.1f}"><title>{}</title></rect>)",
      category_class(category), x, y, width > 4 ? width - 0.6 : width, height, html_text(title));
}

}  // namespace isobar::report
