// ScenarioRunner: simulates many scenarios, some at a time, and shows how far it is. What it has is kept in rows.jsonl,
// by the keys of scenarios, so that a run that was stopped goes on where it was.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "isobar/base/error.hpp"
#include "isobar/forecast/scenario_key.hpp"
#include "isobar/record/status_line.hpp"

namespace isobar::forecast {

/// Somebody asked to stop; what is finished is kept.
class Stopped : public Error {
 public:
  using Error::Error;
};

struct RunnerOptions {
  std::filesystem::path folder{};           ///< where rows.jsonl is kept; empty: nowhere
  bool resume = false;                      ///< begin with what is kept there
  bool losses = false;                      ///< with the break-up of what is lost
  int at_once = 2;                          ///< every simulation is a process of its own
  std::FILE* progress = nullptr;            ///< where the line that tells how far it is goes; null: nowhere
  const std::atomic<bool>* stop = nullptr;  ///< set: no further scenario is begun
  /// In place of simulate_scenario().
  std::function<sim::Simulated(const sim::Scenario&, bool losses)> simulate{};
};

/// sim::simulate or sim::simulate_losses; one rank sends nothing, and is simulated in the cheapest way.
sim::Simulated simulate_scenario(const sim::Scenario& scenario, bool losses);

class ScenarioRunner {
 public:
  /// Reads what is kept if it shall go on from there; otherwise rows.jsonl begins anew.
  explicit ScenarioRunner(RunnerOptions options);

  /// What simulating each gave, in their order; equal ones are simulated once. The first Error ends the others.
  std::vector<sim::Simulated> run(std::span<const sim::Scenario> scenarios);
  sim::Simulated run(const sim::Scenario& scenario) { return run(std::span(&scenario, 1))[0]; }

  /// How many were really simulated, and how many were known already.
  std::int64_t simulated() const { return simulated_; }
  std::int64_t found() const { return found_; }

 private:
  const sim::Simulated* known(const std::string& key) const;
  void keep(const std::string& key, const sim::Scenario& scenario, const sim::Simulated& simulated);

  RunnerOptions options_;
  std::map<std::string, KeptRow> rows_{};
  std::int64_t simulated_ = 0, found_ = 0;
};

}  // namespace isobar::forecast
