// What-if: changes one quantity of a scenario and nothing else; one row for each value. Quantities are rows of the
// table in what_if.cpp.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isobar/forecast/scenario_runner.hpp"

namespace isobar::forecast {

/// A scenario with the quantity changed; `facts` are the values of the quantity's columns.
struct Variant {
  std::string label{};
  sim::Scenario scenario{};
  std::vector<std::string> facts{};
  std::string missing{};  ///< why it cannot be simulated; empty: it can
};

struct Quantity {
  std::string_view name, summary;
  std::vector<std::string_view> columns;  ///< what its variants show besides times
  /// The variants for the values that the user gave as text, or for the usual values if there are none.
  std::vector<Variant> (*variants)(const sim::Scenario& base, std::span<const std::string> values);
};

std::span<const Quantity* const> quantities();
/// Throws UsageError that suggests known names if `name` is unknown.
const Quantity& find_quantity(std::string_view name);

struct WhatIfRow {
  Variant variant{};
  sim::Simulated simulated{};
  double samples_per_second = 0, efficiency = 0;  ///< relative to one rank that never waits
};

struct WhatIf {
  const Quantity* quantity = nullptr;
  sim::Scenario base{};
  std::vector<WhatIfRow> rows{};
};

WhatIf what_if(const Quantity& quantity, const sim::Scenario& base, std::span<const std::string> values,
               ScenarioRunner& runner);

std::string what_if_text(const WhatIf& table);
std::string what_if_csv(const WhatIf& table);

}  // namespace isobar::forecast
