#include "isobar/forecast/forecast_page.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "isobar/base/html_text.hpp"
#include "isobar/base/text.hpp"
#include "isobar/disk/text_file.hpp"
#include "isobar/forecast/forecast_text.hpp"
#include "isobar/forecast/rank_chart.hpp"
#include "isobar/report/html.hpp"

namespace isobar::forecast {
namespace {

std::string line_name(const Forecast& forecast, Mode mode, const Spec& strategy) {
  return forecast.sweep.modes.size() > 1 ? fmt::format("{}, {}", strategy.str(), mode_name(mode)) : strategy.str();
}

// One line for each mode and strategy.
template <class Value>
RankChart chart_of(const Forecast& forecast, std::string name, Value value) {
  RankChart chart{std::move(name)};
  for (const Mode mode : forecast.sweep.modes)
    for (const Spec& strategy : forecast.sweep.strategies) {
      RankLine line{line_name(forecast, mode, strategy)};
      for (const ForecastRow& row : forecast.rows)
        if (row.mode == mode && row.strategy == strategy)
          line.ranks.push_back(row.ranks), line.values.push_back(value(row));
      if (!line.ranks.empty()) chart.lines.push_back(std::move(line));
    }
  return chart;
}

RankChart efficiency(const Forecast& forecast) {
  return chart_of(forecast, "efficiency, %", [](const ForecastRow& row) { return 100 * row.efficiency; });
}

std::vector<Bar> step_bars(const Forecast& forecast) {
  std::vector<Bar> bars;
  for (const ForecastRow& row : forecast.rows) {
    const sim::Losses& l = row.simulated.losses;
    const double compute = row.simulated.compute_seconds;
    const double told = l.latency + l.bandwidth + l.contention + l.stragglers + l.input;
    const double rest = row.simulated.step_seconds - compute - told;
    bars.push_back({fmt::format("{}, {} rank{}: {:.4g} ms, {:.1f} %", line_name(forecast, row.mode, row.strategy),
                                with_commas(row.ranks), row.ranks == 1 ? "" : "s", row.simulated.step_seconds * 1e3,
                                100 * row.efficiency),
                    {{"compute", compute * 1e3},
                     {"bandwidth", l.bandwidth * 1e3},
                     {"latency", l.latency * 1e3},
                     {"contention", l.contention * 1e3},
                     {"stragglers", l.stragglers * 1e3},
                     {"I/O", l.input * 1e3},
                     {"not broken up", std::max(0.0, rest) * 1e3}}});
  }
  return bars;
}

RankChart cost(const Forecast& forecast) {
  RankChart chart =
      chart_of(forecast, "microseconds of simulating for each rank and step", [&](const ForecastRow& row) {
        return row.simulated.real_seconds * 1e6 / row.ranks / (forecast.sweep.base.steps + 2);
      });
  chart.logarithmic = true;
  return chart;
}

std::string pairs(const Forecast& forecast) {
  const sim::Scenario& base = forecast.sweep.base;
  const sim::Workload& w = base.workload;
  const std::pair<std::string, std::string> all[] = {
      {"network", w.name},
      {"times from", w.origin},
      {"batch of a rank", fmt::format("{}", w.batch)},
      {"work of a step", fmt::format("{} in {:.4g} ms of computing", human_flops(w.flops), w.compute_seconds() * 1e3)},
      {"gradients", human_bytes(w.gradient_numbers() * sizeof(float))},
      {"platform", platform_line(base)},
      {"calibration", forecast.calibration.empty() ? "none" : forecast.calibration}};
  return report::html_pairs(all);
}

std::string table(const Forecast& forecast) {
  const std::vector<report::Column> columns{{"strategy"},
                                            {"mode"},
                                            {"ranks", true},
                                            {"ms/step", true},
                                            {"samples/s", true},
                                            {"efficiency", true},
                                            {"exposed ms", true},
                                            {"PF/s", true},
                                            {"sent by a rank", true},
                                            {"messages", true},
                                            {"by"}};
  std::vector<std::vector<std::string>> rows;
  for (const ForecastRow& row : forecast.rows) {
    const sim::Simulated& s = row.simulated;
    rows.push_back({html_text(row.strategy.str()), mode_name(row.mode), with_commas(row.ranks),
                    fmt::format("{:.2f}", s.step_seconds * 1e3), fmt::format("{:.1f}", row.samples_per_second),
                    fmt::format("{:.1f} %", 100 * row.efficiency), fmt::format("{:.2f}", s.exposed_seconds * 1e3),
                    fmt::format("{:.4g}", row.flops_per_second * 1e-15), human_bytes(s.sent_bytes),
                    fmt::format("{:.0f}", s.sent_messages), html_text(s.detail)});
  }
  return report::html_table(columns, rows);
}

std::string notes(const Forecast& forecast) {
  std::string text = fmt::format("<p class=\"missing\"><b>Error:</b> {}</p>\n", html_text(forecast.error.text));
  for (const std::string& note : forecast.notes) text += "<p class=\"missing\">" + html_text(note) + "</p>\n";
  return text;
}

}  // namespace

std::string forecast_html(const Forecast& forecast) {
  const std::string title =
      fmt::format("Forecast: {} on {}", forecast.sweep.base.workload.name, forecast.sweep.base.platform.name);
  std::string body = "<h1>" + html_text(title) + "</h1>\n" + notes(forecast);
  body += report::html_section("setting", "What is simulated", pairs(forecast));
  body += report::html_section("efficiency", "Efficiency",
                               rank_chart(efficiency(forecast)) +
                                   "<p class=\"note\">Weak scaling is measured against one "
                                   "rank, strong scaling against the fewest ranks.</p>\n");
  body += report::html_section("step", "Where a step goes",
                               part_bars(step_bars(forecast), "time of a step by what it goes to", "ms"));
  body += report::html_section("rows", "All rows", table(forecast));
  body += report::html_section("cost", "What simulating cost", rank_chart(cost(forecast)));
  return report::html_page(title, body);
}

std::vector<std::string> write_forecast(const Forecast& forecast, const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  const std::string bars = part_bars(step_bars(forecast), "time of a step by what it goes to", "ms");
  const std::pair<const char*, std::string> files[] = {
      {"forecast.html", forecast_html(forecast)},
      {"forecast.txt", forecast_text(forecast)},
      {"forecast.csv", forecast_csv(forecast)},
      {"forecast.json", forecast_json(forecast)},
      {"efficiency.svg", standalone_svg(rank_chart(efficiency(forecast)), "efficiency over ranks")},
      {"step.svg", standalone_svg(bars, "time of a step")},
      {"cost.svg", standalone_svg(rank_chart(cost(forecast)), "cost of simulating")}};
  std::vector<std::string> names;
  for (const auto& [name, text] : files) {
    disk::write_text(folder / name, text);
    names.emplace_back(name);
  }
  return names;
}

}  // namespace isobar::forecast
