// The key of a scenario, equal if and only if a simulation would give the same result; and the result of a simulation
// as one line of JSON, which is found again by this key.
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "isobar/sim/simulate.hpp"

namespace isobar::forecast {

/// A hash of sixteen digits over every number that a simulation depends on; names and summaries do not count.
std::string scenario_key(const sim::Scenario& scenario);

/// A line of rows.jsonl; `losses`: the breakdown of losses was simulated too.
nlohmann::ordered_json row_of(const std::string& key, const sim::Scenario& scenario, const sim::Simulated& simulated,
                              bool losses);

/// The content of such a line; read_row() returns nothing if it is damaged.
struct KeptRow {
  std::string key{};
  sim::Simulated simulated{};
  bool losses = false;
};
std::optional<KeptRow> read_row(const nlohmann::json& line);

}  // namespace isobar::forecast
