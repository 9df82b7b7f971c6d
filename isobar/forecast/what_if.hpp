// What-if: one quantity of a scenario changed, everything else as it is, one row for each value. A quantity is one row
// of the table in what_if.cpp.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isobar/forecast/scenario_runner.hpp"

namespace isobar::forecast {

/// A scenario with the quantity changed; `facts` belong to the columns the quantity names.
struct Variant {
  std::string label{};
  sim::Scenario scenario{};
  std::vector<std::string> facts{};
  std::string missing{};  ///< why it cannot be simulated; empty: it can
};

struct Quantity {
  std::string_view name, summary;
  std::vector<std::string_view> columns;  ///< what its variants say besides times
  /// The values the user gave as text, or those that are usual when there are none.
  std::vector<Variant> (*variants)(const sim::Scenario& base, std::span<const std::string> values);
};

std::span<const Quantity* const> quantities();
/// An unknown name is answered with the known ones.
const Quantity& find_quantity(std::string_view name);

struct WhatIfRow {
  Variant variant{};
  sim::Simulated simulated{};
  double samples_per_second = 0, efficiency = 0;  ///< against one rank that waits for nothing
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
