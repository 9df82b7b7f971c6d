// Time to solution of a scenario when nodes fail, for several failure rates: Daly's checkpoint interval against an
// hourly one.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "isobar/forecast/failures.hpp"
#include "isobar/forecast/scenario_runner.hpp"

namespace isobar::forecast {

struct FailureRow {
  double node_hours = 0;  ///< between failures of one node
  FailureCase of{};
  double interval = 0;  ///< best time between checkpoints, in seconds
  double expected = 0;  ///< seconds to solution with this interval
  double hourly = 0;    ///< the same with a checkpoint every hour
};

struct FailureTable {
  sim::Scenario base{};
  int nodes = 1;
  double hours = 0, step_seconds = 0;
  std::vector<FailureRow> rows{};
};

/// `values` are hours between failures of a node; if empty, the platform's value, a tenth of it and ten times it.
FailureTable failure_table(const sim::Scenario& base, double hours, std::span<const std::string> values,
                           ScenarioRunner& runner);

std::string failure_text(const FailureTable& table);
std::string failure_csv(const FailureTable& table);

}  // namespace isobar::forecast
