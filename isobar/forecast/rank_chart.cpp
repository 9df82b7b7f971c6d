#include "isobar/forecast/rank_chart.hpp"

#include <algorithm>
#include <cmath>
#include <regex>

#include <fmt/format.h>

#include "isobar/base/html_text.hpp"
#include "isobar/base/text.hpp"
#include "isobar/report/chart.hpp"
#include "isobar/report/html.hpp"

namespace isobar::forecast {
namespace {

constexpr std::size_t colours = 8;
// Compute has the colour of convolutions, waiting that of communication, and so on, as on the pages of runs.
constexpr const char* part_classes[] = {"c2", "c7", "c1", "c3", "c6", "c8", "c4", "c9"};

// Grid lines at powers of two or ten, as many as there is room for.
std::vector<report::Tick> rank_ticks(double low, double high, double width) {
  std::vector<report::Tick> ticks;
  const double base = high - low > 12 || width < 500 ? 2 : 1;
  for (double power = std::ceil(low); power <= high + 1e-9; power += base)
    ticks.push_back({(power - low) / (high - low), with_commas(std::llround(std::exp2(power)))});
  return ticks;
}

struct Range {
  double low = 0, high = 1;
};

Range range_of(const std::vector<double>& values) {
  if (values.empty()) return {};
  const auto [low, high] = std::ranges::minmax(values);
  return {low, high};
}

std::string drawn(const RankChart& chart, double width) {
  std::vector<double> ranks, values;
  for (const RankLine& line : chart.lines) {
    for (const double r : line.ranks) ranks.push_back(std::log2(r));
    for (const double v : line.values) values.push_back(chart.logarithmic ? std::log10(std::max(v, 1e-12)) : v);
  }
  Range across = range_of(ranks);
  if (across.high - across.low < 1) across.low -= 0.5, across.high += 0.5;
  across = {across.low - 0.25, across.high + 0.25};
  if (!chart.logarithmic) values.push_back(0);
  const pictures::Axis axis = pictures::axis_over(values, {}, 6);
  const report::PlotArea plot{64, 30, width - 64 - 14, 270};
  const auto place_x = [&](double r) { return plot.x((std::log2(r) - across.low) / (across.high - across.low)); };
  const auto place_y = [&](double v) {
    return plot.y(axis.place(chart.logarithmic ? std::log10(std::max(v, 1e-12)) : v));
  };
  std::string inside =
      report::drawn_axes(plot, rank_ticks(across.low, across.high, width),
                         chart.logarithmic ? report::power_ticks(axis) : report::ticks_of(axis), "ranks", chart.name);
  for (std::size_t l = 0; l < chart.lines.size(); ++l) {
    const RankLine& line = chart.lines[l];
    std::string points, marks;
    for (std::size_t i = 0; i < line.ranks.size(); ++i) {
      points += fmt::format("{:.1f},{:.1f} ", place_x(line.ranks[i]), place_y(line.values[i]));
      marks += fmt::format(R"(<circle cx="{:.1f}" cy="{:.1f}" r="4"><title>{}, {} ranks: {:.4g}</title></circle>)",
                           place_x(line.ranks[i]), place_y(line.values[i]), html_text(line.name),
                           with_commas(std::llround(line.ranks[i])), line.values[i]);
    }
    inside += fmt::format(R"(<polyline class="s{0} curve" points="{1}"/><g class="s{0} marks">{2}</g>)", l % colours,
                          points, marks);
    inside += "\n";
  }
  return report::chart_svg(width, plot.top + plot.height + 48, chart.name + " over ranks", inside);
}

std::string drawn(const std::vector<Bar>& bars, std::string_view label, std::string_view unit, double width) {
  constexpr double row = 44;
  double longest = 0;
  for (const Bar& bar : bars) {
    double sum = 0;
    for (const BarPart& part : bar.parts) sum += std::max(0.0, part.value);
    longest = std::max(longest, sum);
  }
  std::string inside;
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const double top = row * i;
    double x = 0;
    inside += fmt::format("<text x=\"0\" y=\"{:.0f}\">{}</text>", top + 14, html_text(bars[i].label));
    for (std::size_t p = 0; p < bars[i].parts.size(); ++p) {
      const BarPart& part = bars[i].parts[p];
      if (!(part.value > 0) || !(longest > 0)) continue;
      const double length = width * part.value / longest;
      inside += fmt::format(
          R"(<rect class="{}" x="{:.2f}" y="{:.1f}" width="{:.2f}" height="17"><title>{}: {:.4g} {}</title></rect>)",
          part_classes[p % std::size(part_classes)], x, top + 20, length > 3 ? length - 0.6 : length,
          html_text(part.name), part.value, unit);
      x += length;
    }
    inside += "\n";
  }
  return report::chart_svg(width, row * bars.size(), label, inside);
}

}  // namespace

std::string rank_chart(const RankChart& chart) {
  std::string names = "<ul class=\"key\">";
  for (std::size_t l = 0; l < chart.lines.size(); ++l)
    names += fmt::format("<li><i class=\"s{}\"></i>{}</li>", l % colours, html_text(chart.lines[l].name));
  return report::both_widths([&](double width) { return drawn(chart, width); }) + names + "</ul>\n";
}

std::string part_bars(const std::vector<Bar>& bars, std::string_view label, std::string_view unit) {
  std::string names = "<ul class=\"key\">";
  for (std::size_t p = 0; !bars.empty() && p < bars[0].parts.size(); ++p)
    if (std::ranges::any_of(bars, [&](const Bar& bar) { return bar.parts[p].value > 0; }))
      names += fmt::format("<li><i class=\"{}\"></i>{}</li>", part_classes[p % std::size(part_classes)],
                           html_text(bars[0].parts[p].name));
  return names + "</ul>\n" + report::both_widths([&](double width) { return drawn(bars, label, unit, width); });
}

// The list of names below a chart becomes rows of the drawing, which becomes taller.
std::string standalone_svg(std::string_view chart, std::string_view title) {
  const std::string text(chart);
  static const std::regex drawing(R"re(<svg[^>]*viewBox="0 0 (\d+) (\d+)"[^>]*>([^]*?)</svg>)re"),
      name(R"re(<li><i class="(\w+)"></i>([^<]*)</li>)re");
  std::smatch found;
  if (!std::regex_search(text, found, drawing)) return "";
  const int width = std::stoi(found[1]);
  int height = std::stoi(found[2]) + 8;
  std::string names;
  for (auto at = std::sregex_iterator(text.begin(), text.end(), name); at != std::sregex_iterator(); ++at, height += 20)
    names += fmt::format(
        "<rect class=\"{}\" x=\"0\" y=\"{}\" width=\"11\" height=\"11\"/><text x=\"18\" y=\"{}\">{}</text>\n",
        (*at)[1].str(), height, height + 10, (*at)[2].str());
  return fmt::format(
      "<svg class=\"chart\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"-12 -12 {} {}\" role=\"img\">\n<style>{}"
      "svg {{ background: var(--page); font-family: system-ui, sans-serif; }}</style>\n<title>{}</title>\n{}{}</svg>\n",
      width + 24, height + 24, report::html_style(), html_text(title), found[3].str(), names);
}

}  // namespace isobar::forecast
