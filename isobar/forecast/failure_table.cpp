#include "isobar/forecast/failure_table.hpp"

#include <algorithm>

#include "isobar/base/text.hpp"
#include "isobar/forecast/forecast_text.hpp"
#include "isobar/forecast/value_text.hpp"

namespace isobar::forecast {

FailureTable failure_table(const sim::Scenario& base, double hours, std::span<const std::string> values,
                           ScenarioRunner& runner) {
  FailureTable table{.base = base, .nodes = base.nodes(), .hours = hours};
  std::vector<double> rates;
  for (const std::string& text : values)
    rates.push_back(value_of<double>(text, "hours between failures of a node", 1e-3, 1e9));
  if (const double own = base.platform.failures.node_hours; rates.empty() && own > 0) rates = {own / 10, own, own * 10};
  if (rates.empty())
    fail_usage("what-if failures: platform '{}' does not say how often nodes fail; give it in hours: --values 50000",
               base.platform.name);
  table.step_seconds = runner.run(base).step_seconds;
  for (const double node_hours : rates) {
    sim::Platform platform = base.platform;
    platform.failures.node_hours = node_hours;
    FailureRow row{node_hours, failure_case(platform, base.workload, table.nodes, hours)};
    row.interval = best_interval(row.of);
    row.expected = expected_seconds(row.of, row.interval);
    row.hourly = expected_seconds(row.of, 3600);
    table.rows.push_back(row);
  }
  return table;
}

std::string failure_text(const FailureTable& table) {
  const FailureCase& first = table.rows.front().of;
  std::string text = fmt::format("{}\n{}\n", platform_line(table.base), workload_line(table.base.workload));
  text += fmt::format(
      "{} ranks on {} nodes, {:g} hours of work or {} steps of {:.4g} ms; a checkpoint takes {:.3g} s, a restart "
      "{:.3g} "
      "s\n\n",
      with_commas(table.base.ranks), with_commas(table.nodes), table.hours,
      with_commas(static_cast<std::int64_t>(table.hours * 3600 / table.step_seconds)), table.step_seconds * 1e3,
      first.checkpoint_seconds, first.restart_seconds);
  text += fmt::format("{:>18} {:>18} {:>18} {:>16} {:>10} {:>18}\n", "a node fails every", "some node every",
                      "best interval", "expected", "overhead", "if every hour");
  for (const FailureRow& row : table.rows)
    text += fmt::format("{:>16g} h {:>18} {:>18} {:>16} {:>8.2f} % {:>16.2f} %\n", row.node_hours,
                        human_seconds(row.of.between_seconds), human_seconds(row.interval), human_seconds(row.expected),
                        100 * (row.expected / row.of.work_seconds - 1), 100 * (row.hourly / row.of.work_seconds - 1));
  return text + "best interval: computing between checkpoints, by Daly's estimate; overhead: beyond the work itself\n";
}

std::string failure_csv(const FailureTable& table) {
  std::string text =
      "node_hours,between_seconds,checkpoint_seconds,restart_seconds,interval_seconds,work_seconds,"
      "expected_seconds,expected_hourly_seconds\n";
  for (const FailureRow& row : table.rows)
    text += fmt::format("{:g},{:.9g},{:.6g},{:.6g},{:.9g},{:.9g},{:.9g},{:.9g}\n", row.node_hours,
                        row.of.between_seconds, row.of.checkpoint_seconds, row.of.restart_seconds, row.interval,
                        row.of.work_seconds, row.expected, row.hourly);
  return text;
}

}  // namespace isobar::forecast
