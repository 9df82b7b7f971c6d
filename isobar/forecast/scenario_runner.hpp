// ScenarioRunner: simulates many scenarios, some in parallel, and shows progress. Results are kept in rows.jsonl, by
// the keys of scenarios, so that a stopped run can continue.
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

/// A stop was requested; finished results are kept.
class Stopped : public Error {
 public:
  using Error::Error;
};

struct RunnerOptions {
  std::filesystem::path folder{};           ///< where rows.jsonl is kept; empty: nowhere
  bool resume = false;                      ///< use the results kept there
  bool losses = false;                      ///< with the breakdown of losses
  int at_once = 2;                          ///< number of parallel simulations, each in its own process
  std::FILE* progress = nullptr;            ///< where to show progress; null: nowhere
  const std::atomic<bool>* stop = nullptr;  ///< when set, no further scenario begins
  /// Replaces simulate_scenario().
  std::function<sim::Simulated(const sim::Scenario&, bool losses)> simulate{};
};

/// sim::simulate or sim::simulate_losses; a single rank sends nothing and is simulated in the cheapest way.
sim::Simulated simulate_scenario(const sim::Scenario& scenario, bool losses);

class ScenarioRunner {
 public:
  /// Reads kept results if `resume` is set; otherwise begins a new rows.jsonl.
  explicit ScenarioRunner(RunnerOptions options);

  /// The results of all scenarios, in order; equal ones are simulated once. The first Error ends the others.
  std::vector<sim::Simulated> run(std::span<const sim::Scenario> scenarios);
  sim::Simulated run(const sim::Scenario& scenario) { return run(std::span(&scenario, 1))[0]; }

  /// How many scenarios were simulated, and how many were already known.
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
