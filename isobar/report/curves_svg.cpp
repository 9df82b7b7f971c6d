// The picture of curves.hpp. All sizes are in pixels. A drawing names its colours by class (s0, s1, ...), so that a
// page can override them; those here suit a light page and are distinguishable in print.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "isobar/base/html_text.hpp"
#include "isobar/pictures/axis.hpp"
#include "isobar/report/chart.hpp"
#include "isobar/report/curves.hpp"

namespace isobar::report {
namespace {

constexpr int plot_width = 320, plot_height = 220, left = 70, top = 52, bottom = 50, right = 22;
constexpr int panel_width = left + plot_width + right, panel_height = top + plot_height + bottom;
constexpr std::size_t panels_in_a_row = 3;
constexpr std::array colours{"#2563eb", "#f97316", "#059669", "#9333ea", "#dc2626", "#0891b2", "#a16207", "#475569"};

std::string colour_class(std::size_t curve) { return fmt::format("s{}", curve % colours.size()); }

constexpr std::string_view rules =
    R"(  text { font-family: 'Helvetica Neue', Helvetica, Arial, 'DejaVu Sans', sans-serif; fill: #1e293b; }
  .name { font-size: 18px; font-weight: 600; }
  .tick { font-size: 12px; fill: #475569; }
  .axis { font-size: 13px; fill: #334155; }
  .legend { font-size: 13px; stroke: none; }
  .grid { stroke: #e2e8f0; stroke-width: 1; }
  .frame { fill: none; stroke: #94a3b8; stroke-width: 1; }
  .curve { fill: none; stroke-width: 2; stroke-linejoin: round; }
  .marks { stroke: none; }
  .faint { opacity: 0.4; }
</style>
)";

std::string style() {
  std::string text = "<style>\n";
  for (std::size_t i = 0; i < colours.size(); ++i)
    text += fmt::format("  .{} {{ fill: {}; stroke: {}; }}\n", colour_class(i), colours[i], colours[i]);
  return text + std::string(rules);
}
double across(const pictures::Axis& axis, double value) { return plot_width * axis.place(value); }
double down(const pictures::Axis& axis, double value) { return plot_height * (1 - axis.place(value)); }

std::string grid(const pictures::Axis& epochs, const pictures::Axis& values) {
  std::string text;
  for (const double tick : epochs.ticks()) {
    if (tick != std::floor(tick)) continue;
    text += fmt::format(R"(<line class="grid" x1="{0:.1f}" y1="0" x2="{0:.1f}" y2="{1}"/>)", across(epochs, tick),
                        plot_height);
    text += fmt::format(R"(<text class="tick" x="{:.1f}" y="{}" text-anchor="middle">{:.0f}</text>)",
                        across(epochs, tick), plot_height + 18, tick + 0.0);  // no -0
  }
  for (const double tick : values.ticks()) {
    const double y = down(values, tick);
    text += fmt::format(R"(<line class="grid" x1="0" y1="{0:.1f}" x2="{1}" y2="{0:.1f}"/>)", y, plot_width);
    text +=
        fmt::format(R"(<text class="tick" x="-8" y="{:.1f}" text-anchor="end">{}</text>)", y + 4, values.label(tick));
  }
  return text + "\n";
}

std::string drawn(const Curve& curve, const Panel& panel, const pictures::Axis& epochs, const pictures::Axis& values,
                  const std::string& colour) {
  const bool only_points = curve.drawn == Curve::Drawn::points;
  const bool marked = only_points || (curve.drawn == Curve::Drawn::whole && curve.values.size() <= 40);
  std::string points, marks;
  for (std::size_t i = 0; i < curve.values.size(); ++i) {
    if (!std::isfinite(curve.values[i])) continue;
    const double x = across(epochs, curve.epochs[i]), y = down(values, curve.values[i]);
    if (!only_points) points += fmt::format("{:.1f},{:.1f} ", x, y);
    if (marked)
      marks += fmt::format(R"(<circle cx="{:.1f}" cy="{:.1f}" r="{}"><title>{}, {} {:.0f}: {:.5g}</title></circle>)", x,
                           y, only_points ? 1.8 : 2.8, html_text(curve.name), html_text(panel.along), curve.epochs[i],
                           curve.values[i]);
  }
  const std::string line =
      only_points ? std::string() : fmt::format(R"(<polyline class="{} curve" points="{}"/>)", colour, points);
  return fmt::format("{}<g class=\"{}{} marks\">{}</g>\n", line, colour, only_points ? " faint" : "", marks);
}

// The names of the curves with their last values, from right to left as far as there is room.
std::string legend(const Panel& panel) {
  std::string text;
  double x = plot_width;
  for (std::size_t i = panel.curves.size(); i-- > 0;) {
    const Curve& curve = panel.curves[i];
    if (curve.values.empty()) continue;
    const std::string label = fmt::format("{} {:.4g}", curve.name, curve.values.back());
    if (x < 7.0 * label.size() + 8.0 * panel.title.size()) break;
    text += fmt::format(R"(<text class="{} legend" x="{:.0f}" y="-16" text-anchor="end">{}</text>)", colour_class(i), x,
                        html_text(label));
    x -= 7.2 * label.size() + 12;
  }
  return text + "\n";
}

std::string drawn(const Panel& panel, int x, int y, const std::string& names) {
  std::vector<double> all_epochs, all_values;
  for (const Curve& curve : panel.curves) {
    all_epochs.insert(all_epochs.end(), curve.epochs.begin(), curve.epochs.end());
    all_values.insert(all_values.end(), curve.values.begin(), curve.values.end());
  }
  const pictures::Axis epochs = pictures::axis_over(all_epochs, {}, 8), values = pictures::axis_over(all_values, {}, 5);
  std::string text = fmt::format("<g transform=\"translate({} {})\">\n", x + left, y + top);
  text += fmt::format(R"(<text class="name" x="0" y="-16">{}</text>)", html_text(panel.title));
  text += names + grid(epochs, values);
  for (std::size_t i = 0; i < panel.curves.size(); ++i)
    text += drawn(panel.curves[i], panel, epochs, values, colour_class(i));
  text += fmt::format(R"(<rect class="frame" width="{}" height="{}"/>)", plot_width, plot_height);
  text += fmt::format(R"(<text class="axis" x="{}" y="{}" text-anchor="middle">{}</text>)", plot_width / 2,
                      plot_height + 38, html_text(panel.along));
  return text + "\n</g>\n";
}

}  // namespace

std::string panel_chart(const Panel& panel) {
  std::string names = "<ul class=\"key\">";
  for (std::size_t i = 0; i < panel.curves.size(); ++i) {
    const Curve& curve = panel.curves[i];
    names += fmt::format("<li><i class=\"{}\"></i>{}{}</li>", colour_class(i), html_text(curve.name),
                         curve.values.empty() ? "" : fmt::format(" {:.4g}", curve.values.back()));
  }
  constexpr int less = 18;  // no names beside the title
  return chart_svg(panel_width, panel_height - less, fmt::format("{} by {}", panel.title, panel.along),
                   drawn(panel, 0, -less, "")) +
         names + "</ul>\n";
}

std::string curves_svg(std::span<const Panel> panels, std::string_view title) {
  const std::size_t in_a_row = std::clamp<std::size_t>(panels.size(), 1, panels_in_a_row);
  const std::size_t rows = std::max<std::size_t>(1, (panels.size() + in_a_row - 1) / in_a_row);
  const auto width = static_cast<int>(in_a_row) * panel_width, height = static_cast<int>(rows) * panel_height;
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\">\n"
      "<title>{2}</title>\n",
      width, height, html_text(title));
  text += style();
  text += fmt::format("<rect width=\"{}\" height=\"{}\" fill=\"#ffffff\"/>\n", width, height);
  for (std::size_t i = 0; i < panels.size(); ++i)
    text += drawn(panels[i], static_cast<int>(i % in_a_row) * panel_width,
                  static_cast<int>(i / in_a_row) * panel_height, legend(panels[i]));
  return text + "</svg>\n";
}

}  // namespace isobar::report
