// The picture of scatter.hpp. All sizes are in pixels; colours suit a light page and stay readable when printed.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "isobar/base/html_text.hpp"
#include "isobar/disk/text_file.hpp"
#include "isobar/pictures/axis.hpp"
#include "isobar/pictures/scatter.hpp"

namespace isobar::pictures {
namespace {

constexpr int plot = 250, left = 66, top = 52, bottom = 56, right = 18;
constexpr int panel_width = left + plot + right, panel_height = top + plot + bottom;
constexpr std::size_t panels_in_a_row = 4, most_points = 4000;

constexpr std::string_view style = R"(<style>
  text { font-family: 'Helvetica Neue', Helvetica, Arial, 'DejaVu Sans', sans-serif; fill: #1e293b; }
  .name { font-size: 18px; font-weight: 600; }
  .sub { font-size: 13px; font-weight: 600; }
  .score { font-size: 15px; fill: #475569; }
  .tick { font-size: 12px; fill: #475569; }
  .axis { font-size: 13px; fill: #334155; }
  .grid { stroke: #e2e8f0; stroke-width: 1; }
  .frame { fill: none; stroke: #94a3b8; stroke-width: 1; }
  .diagonal { stroke: #f97316; stroke-width: 1.6; stroke-dasharray: 6 4; }
  .samples { fill: #2563eb; fill-opacity: 0.55; }
</style>
)";

// Names as physicists write them: a letter and its subscript.
struct Symbol {
  std::string_view name, letter, below;
};
constexpr std::array symbols{Symbol{"omega_m", "\u03a9", "m"}, Symbol{"sigma_8", "\u03c3", "8"},
                             Symbol{"n_s", "n", "s"}, Symbol{"h_0", "H", "0"}};

std::string written(const std::string& name) {
  for (const Symbol& symbol : symbols)
    if (symbol.name == name)
      return fmt::format(R"({}<tspan class="sub" dy="4">{}</tspan>)", symbol.letter, symbol.below);
  return html_text(name);
}

double radius(std::size_t samples) { return samples <= 200 ? 3.4 : samples <= 2000 ? 2.4 : 1.4; }

std::string grid(const Axis& axis) {
  std::string text;
  for (const double tick : axis.ticks()) {
    const double x = plot * axis.place(tick), y = plot - x;
    text += fmt::format(R"(<line class="grid" x1="{0:.1f}" y1="0" x2="{0:.1f}" y2="{1}"/>)", x, plot);
    text += fmt::format(R"(<line class="grid" x1="0" y1="{0:.1f}" x2="{1}" y2="{0:.1f}"/>)", y, plot);
    text += fmt::format(R"(<text class="tick" x="{:.1f}" y="{}" text-anchor="middle">{}</text>)", x, plot + 18,
                        axis.label(tick));
    text += fmt::format(R"(<text class="tick" x="-8" y="{:.1f}" text-anchor="end">{}</text>)", y + 4, axis.label(tick));
    text += "\n";
  }
  return text;
}

std::string svg_panel(const Series& series, int x, int y) {
  const Axis axis = axis_over(series.truth, series.predicted, 5);
  std::string text = fmt::format("<g transform=\"translate({} {})\">\n", x + left, y + top);
  text += fmt::format(R"(<text class="name" x="0" y="-16">{}</text>)", written(series.name));
  if (const double fit = r2(series); std::isfinite(fit))
    text +=
        fmt::format(R"(<text class="score" x="{}" y="-16" text-anchor="end">R{} = {:.3f}</text>)", plot, "\u00b2", fit);
  text += "\n" + grid(axis);
  text += fmt::format("<line class=\"diagonal\" x1=\"0\" y1=\"{0}\" x2=\"{0}\" y2=\"0\"/>\n", plot);
  text += R"(<g class="samples">)";
  // Of very many samples an evenly spaced subset is drawn to keep the file small; the score covers all.
  const std::size_t step = (series.truth.size() + most_points - 1) / most_points;
  for (std::size_t i = 0; i < series.truth.size(); i += step) {
    const double truth = series.truth[i], predicted = series.predicted[i];
    if (std::isfinite(truth) && std::isfinite(predicted))
      text += fmt::format(R"(<circle cx="{:.1f}" cy="{:.1f}" r="{}"/>)", plot * axis.place(truth),
                          plot * (1 - axis.place(predicted)), radius(series.truth.size()));
  }
  text += "</g>\n";
  text += fmt::format(R"(<rect class="frame" width="{0}" height="{0}"/>)", plot);
  text += fmt::format(R"(<text class="axis" x="{}" y="{}" text-anchor="middle">true</text>)", plot / 2, plot + 40);
  text += fmt::format(
      R"svg(<text class="axis" transform="translate(-46 {}) rotate(-90)" text-anchor="middle">predicted</text>)svg",
      plot / 2);
  return text + "\n</g>\n";
}

}  // namespace

std::string scatter_svg(std::span<const Series> all) {
  const std::size_t across = std::clamp<std::size_t>(all.size(), 1, panels_in_a_row);
  const std::size_t down = std::max<std::size_t>(1, (all.size() + across - 1) / across);
  const auto width = static_cast<int>(across) * panel_width, height = static_cast<int>(down) * panel_height;
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\">\n"
      "<title>Predicted against true</title>\n",
      width, height);
  text += style;
  text += fmt::format("<rect width=\"{}\" height=\"{}\" fill=\"#ffffff\"/>\n", width, height);
  for (std::size_t i = 0; i < all.size(); ++i)
    text += svg_panel(all[i], static_cast<int>(i % across) * panel_width, static_cast<int>(i / across) * panel_height);
  return text + "</svg>\n";
}

void write_scatter_svg(const std::filesystem::path& file, std::span<const Series> all) {
  disk::write_text(file, scatter_svg(all));
}

}  // namespace isobar::pictures
