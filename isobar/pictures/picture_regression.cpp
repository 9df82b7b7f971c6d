// regression: predicted against true values of every target, and the distribution of errors: their mean and deviation
// show whether a network is biased or noisy.
#include <algorithm>
#include <cmath>

#include "isobar/disk/text_file.hpp"
#include "isobar/pictures/axis.hpp"
#include "isobar/pictures/scatter.hpp"
#include "isobar/pictures/subject.hpp"
#include "isobar/pictures/svg_sheet.hpp"

namespace isobar::pictures {
namespace {

constexpr int plot_width = 250, plot_height = 170, regression_left = 66, regression_right = 18, regression_top = 52,
              regression_bottom = 56;
constexpr int regression_panel_width = regression_left + plot_width + regression_right,
              regression_panel_height = regression_top + plot_height + regression_bottom;
constexpr std::size_t regression_columns = 4, least_bins = 8, most_bins = 40;

struct Errors {
  std::vector<double> values{};
  double mean = 0, deviation = 0;
};

Errors errors_of(const Series& series) {
  Errors errors;
  for (std::size_t i = 0; i < series.truth.size(); ++i)
    if (const double e = series.predicted[i] - series.truth[i]; std::isfinite(e)) errors.values.push_back(e);
  const auto count = static_cast<double>(std::max<std::size_t>(1, errors.values.size()));
  for (const double e : errors.values) errors.mean += e / count;
  for (const double e : errors.values) errors.deviation += (e - errors.mean) * (e - errors.mean) / count;
  errors.deviation = std::sqrt(errors.deviation);
  return errors;
}

void draw_panel(SvgSheet& sheet, double x, double y, const Series& series) {
  const Errors errors = errors_of(series);
  const std::vector<double> zero{0};
  const Axis axis = axis_over(errors.values, zero, 4);
  const auto wanted = static_cast<std::size_t>(2 * std::sqrt(static_cast<double>(errors.values.size())));
  std::vector<double> bins(std::clamp(wanted, least_bins, most_bins));
  const auto count = static_cast<double>(bins.size());
  for (const double e : errors.values)
    ++bins[static_cast<std::size_t>(std::clamp(axis.place(e) * count, 0.0, count - 1))];
  const double highest = std::max(1.0, std::ranges::max(bins));

  sheet.text(x, y - 16, series.name, {.size = 18, .bold = true});
  sheet.text(x + plot_width, y - 16, fmt::format("mean {:.2g}, deviation {:.2g}", errors.mean, errors.deviation),
             {.size = 13, .colour = "#475569", .anchor = "end"});
  for (const double tick : axis.ticks()) {
    const double at = x + plot_width * axis.place(tick);
    sheet.line(at, y, at, y + plot_height, "#e2e8f0");
    sheet.text(at, y + plot_height + 18, axis.label(tick), {.size = 12, .colour = "#475569", .anchor = "middle"});
  }
  const double width = plot_width / count;
  for (std::size_t b = 0; b < bins.size(); ++b) {
    const double height = 0.94 * plot_height * bins[b] / highest;
    if (height > 0)
      sheet.rectangle(x + width * static_cast<double>(b) + 0.5, y + plot_height - height, width - 1, height, "#2563eb");
  }
  const double none = x + plot_width * axis.place(0);
  sheet.line(none, y, none, y + plot_height, "#f97316", 1.6);
  sheet.rectangle(x, y, plot_width, plot_height, "none", "#94a3b8");
  sheet.text(x - 8, y + 0.06 * plot_height + 4, fmt::format("{:.0f}", highest),
             {.size = 12, .colour = "#475569", .anchor = "end"});
  sheet.text(x - 8, y + plot_height + 4, "0", {.size = 12, .colour = "#475569", .anchor = "end"});
  sheet.text(x - 46, y + plot_height / 2.0, "samples",
             {.size = 13, .colour = "#334155", .anchor = "middle", .turned = -90});
  sheet.text(x + plot_width / 2.0, y + plot_height + 40, "predicted \u2212 true",
             {.size = 13, .colour = "#334155", .anchor = "middle"});
}

std::string errors_svg(std::span<const Series> all) {
  const std::size_t across = std::min(all.size(), regression_columns), down = (all.size() + across - 1) / across;
  SvgSheet sheet(static_cast<double>(across) * regression_panel_width,
                 static_cast<double>(down) * regression_panel_height, "Errors of the predictions");
  for (std::size_t i = 0; i < all.size(); ++i)
    draw_panel(sheet, static_cast<double>(i % across) * regression_panel_width + regression_left,
               static_cast<double>(i / across) * regression_panel_height + regression_top, all[i]);
  return sheet.str();
}

bool fits_regression(const Subject& subject) { return subject.task() == Task::regression && subject.rows() > 0; }

std::vector<Picture> draw_regression(Subject& subject, const std::filesystem::path& folder) {
  const PictureRequest& request = subject.request();
  const std::vector<Series> all =
      series_of(request.predictions, request.targets, subject.target_shape().count(), request.target_names);
  std::string scores;
  for (const Series& series : all)
    if (const double fit = r2(series); std::isfinite(fit))
      scores += fmt::format("{}{} {:.3f}", scores.empty() ? " R\u00b2: " : ", ", series.name, fit);
  write_scatter_svg(folder / "scatter.svg", all);
  disk::write_text(folder / "errors.svg", errors_svg(all));
  return {{"", "Predicted against true",
           fmt::format("{} test samples; perfect predictions lie on the dashed line.{}", all[0].truth.size(), scores),
           "scatter.svg"},
          {"", "Errors", "How far predictions are from the truth; without a shift the line lies in the middle.",
           "errors.svg"}};
}

}  // namespace

extern const PictureKind regression{"regression", "predictions against the truth", fits_regression, draw_regression};

}  // namespace isobar::pictures
