// Time to solution of a scenario when nodes fail, for several failure rates: Daly's interval against others.
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
  double interval = 0;  ///< seconds between checkpoints, the best
  double expected = 0;  ///< seconds to solution with it
  double hourly = 0;    ///< with a checkpoint every hour instead
};

struct FailureTable {
  sim::Scenario base{};
  int nodes = 1;
  double hours = 0, step_seconds = 0;
  std::vector<FailureRow> rows{};
};

/// `values` are hours between failures of a node; without any, what the platform says, and a tenth and ten times that.
FailureTable failure_table(const sim::Scenario& base, double hours, std::span<const std::string> values,
                           ScenarioRunner& runner);

std::string failure_text(const FailureTable& table);
std::string failure_csv(const FailureTable& table);

}  // namespace isobar::forecast
