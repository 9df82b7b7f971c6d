#include "isobar/forecast/what_if.hpp"

#include <algorithm>

#include "isobar/base/text.hpp"
#include "isobar/forecast/forecast_text.hpp"

namespace isobar::forecast {

extern const Quantity algorithm_quantity;  // what_if_strategy.cpp
extern const Quantity batch_quantity;      // what_if_input.cpp
extern const Quantity bucket_quantity;     // what_if_strategy.cpp
extern const Quantity hierarchy_quantity;  // what_if_strategy.cpp
extern const Quantity input_quantity;      // what_if_input.cpp
extern const Quantity lag_quantity;        // what_if_strategy.cpp

std::span<const Quantity* const> quantities() {
  static constexpr const Quantity* all[] = {&input_quantity,     &batch_quantity,  &lag_quantity,
                                            &hierarchy_quantity, &bucket_quantity, &algorithm_quantity};
  return all;
}

const Quantity& find_quantity(std::string_view name) {
  std::vector<std::string> known;
  for (const Quantity* quantity : quantities()) {
    if (quantity->name == name) return *quantity;
    known.emplace_back(quantity->name);
  }
  fail_usage("unknown quantity '{}'{}", name, suggestion(name, known));
}

WhatIf what_if(const Quantity& quantity, const sim::Scenario& base, std::span<const std::string> values,
               ScenarioRunner& runner) {
  WhatIf table{&quantity, base, {}};
  std::vector<sim::Scenario> scenarios;
  for (Variant& variant : quantity.variants(base, values)) {
    if (variant.missing.empty()) scenarios.push_back(variant.scenario);
    table.rows.push_back({.variant = std::move(variant)});
  }
  const std::vector<sim::Simulated> simulated = runner.run(scenarios);
  auto next = simulated.begin();
  for (WhatIfRow& row : table.rows) {
    if (!row.variant.missing.empty()) continue;
    row.simulated = *next++;
    const sim::Scenario& scenario = row.variant.scenario;
    row.samples_per_second = 1.0 * scenario.workload.batch * sim::replicas(scenario) / row.simulated.step_seconds;
    row.efficiency = scenario.workload.compute_seconds() / row.simulated.step_seconds;
  }
  return table;
}

std::string what_if_text(const WhatIf& table) {
  std::string text = fmt::format("{}\n{}\n{} ranks, {}; changed: {}\n\n", platform_line(table.base),
                                 workload_line(table.base.workload), with_commas(table.base.ranks),
                                 table.base.strategy.str(), table.quantity->summary);
  std::size_t widest = table.quantity->name.size();
  for (const WhatIfRow& row : table.rows) widest = std::max(widest, row.variant.label.size());
  text += fmt::format("{:<{}} {:>10} {:>11} {:>10} {:>10} {:>10}", table.quantity->name, widest, "ms/step", "samples/s",
                      "efficiency", "exposed ms", "I/O ms");
  for (const std::string_view column : table.quantity->columns) text += fmt::format(" {:>14}", column);
  text += "\n";
  for (const WhatIfRow& row : table.rows) {
    text += fmt::format("{:<{}}", row.variant.label, widest);
    if (!row.variant.missing.empty()) {
      text += fmt::format(" {}\n", row.variant.missing);
      continue;
    }
    const sim::Simulated& s = row.simulated;
    text += fmt::format(" {:>10.2f} {:>11.1f} {:>9.1f}% {:>10.2f} {:>10.2f}", s.step_seconds * 1e3,
                        row.samples_per_second, 100 * row.efficiency, s.exposed_seconds * 1e3, s.input_seconds * 1e3);
    for (const std::string& fact : row.variant.facts) text += fmt::format(" {:>14}", fact);
    text += "\n";
  }
  return text + "efficiency: against a rank that computes and waits for nothing\n";
}

std::string what_if_csv(const WhatIf& table) {
  std::string text =
      fmt::format("{},step_seconds,samples_per_second,efficiency,exposed_seconds,input_seconds", table.quantity->name);
  for (const std::string_view column : table.quantity->columns) text += fmt::format(",\"{}\"", column);
  text += "\n";
  for (const WhatIfRow& row : table.rows) {
    if (!row.variant.missing.empty()) continue;
    const sim::Simulated& s = row.simulated;
    text += fmt::format("\"{}\",{:.9g},{:.9g},{:.6g},{:.9g},{:.9g}", row.variant.label, s.step_seconds,
                        row.samples_per_second, row.efficiency, s.exposed_seconds, s.input_seconds);
    for (const std::string& fact : row.variant.facts) text += fmt::format(",\"{}\"", fact);
    text += "\n";
  }
  return text;
}

}  // namespace isobar::forecast
