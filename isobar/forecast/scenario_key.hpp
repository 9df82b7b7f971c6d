// The key of a scenario: equal when, and only when, a simulation of it would give the same; and what a simulation gave
// as one line of JSON, to be found again by that key.
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "isobar/sim/simulate.hpp"

namespace isobar::forecast {

/// Sixteen digits over every number that a simulation depends on; names and summaries do not count.
std::string scenario_key(const sim::Scenario& scenario);

/// A line of rows.jsonl; `losses`: the break-up of losses was simulated too.
nlohmann::ordered_json row_of(const std::string& key, const sim::Scenario& scenario, const sim::Simulated& simulated,
                              bool losses);

/// What such a line says; nothing when it is damaged.
struct KeptRow {
  std::string key{};
  sim::Simulated simulated{};
  bool losses = false;
};
std::optional<KeptRow> read_row(const nlohmann::json& line);

}  // namespace isobar::forecast
