#include "isobar/forecast/scenario_runner.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <fstream>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "isobar/base/clock.hpp"
#include "isobar/base/text.hpp"

namespace isobar::forecast {
namespace {

constexpr const char* rows_file = "rows.jsonl";

// Scenarios with more ranks cost more, so progress is measured in ranks.
double weight(const sim::Scenario& scenario) { return scenario.ranks; }

std::string status(std::size_t done, std::size_t all, double part, double seconds) {
  const double left = part > 0 ? seconds * (1 - part) / part : 0;
  return fmt::format("{} {} of {} scenarios, {:.2g} per second, {}", record::bar(part, 1, 20), done, all,
                     done / std::max(seconds, 1e-9), part > 0 ? human_seconds(left) + " left" : "just begun");
}

}  // namespace

sim::Simulated simulate_scenario(const sim::Scenario& scenario, bool losses) {
  sim::Scenario chosen = scenario;
  if (chosen.ranks == 1 && chosen.detail == sim::Detail::automatic) chosen.detail = sim::Detail::rounds;
  return losses ? sim::simulate_losses(chosen) : sim::simulate(chosen);
}

ScenarioRunner::ScenarioRunner(RunnerOptions options) : options_(std::move(options)) {
  if (!options_.simulate) options_.simulate = simulate_scenario;
  if (options_.folder.empty()) return;
  std::filesystem::create_directories(options_.folder);
  const auto file = options_.folder / rows_file;
  // Rewritten, so that a line torn by a crash does not damage those that follow.
  std::string kept;
  if (std::ifstream in(file); options_.resume)
    for (std::string line; std::getline(in, line);)
      if (auto row = read_row(nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false))) {
        rows_[row->key] = std::move(*row);
        kept += line + "\n";
      }
  std::ofstream out(file, std::ios::trunc);
  out << kept;
  if (!out.flush()) fail("'{}' cannot be written", file.string());
}

const sim::Simulated* ScenarioRunner::known(const std::string& key) const {
  const auto found = rows_.find(key);
  return found != rows_.end() && (found->second.losses || !options_.losses) ? &found->second.simulated : nullptr;
}

void ScenarioRunner::keep(const std::string& key, const sim::Scenario& scenario, const sim::Simulated& simulated) {
  rows_[key] = {key, simulated, options_.losses};
  ++simulated_;
  if (options_.folder.empty()) return;
  const auto file = options_.folder / rows_file;
  std::ofstream out(file, std::ios::app);
  out << row_of(key, scenario, simulated, options_.losses).dump() << "\n";
  if (!out.flush()) fail("'{}' cannot be written", file.string());
}

std::vector<sim::Simulated> ScenarioRunner::run(std::span<const sim::Scenario> scenarios) {
  std::vector<std::string> keys;
  std::vector<std::size_t> open;
  std::set<std::string> seen;
  double all_weight = 0, done_weight = 0;
  for (std::size_t i = 0; i < scenarios.size(); ++i) {
    keys.push_back(scenario_key(scenarios[i]));
    if (!seen.insert(keys.back()).second) continue;
    if (known(keys.back())) ++found_;
    else open.push_back(i), all_weight += weight(scenarios[i]);
  }

  std::mutex mutex;
  std::condition_variable ended;
  std::size_t next = 0, done = 0, busy = 0;
  std::exception_ptr failure;
  const auto stopped = [&] { return options_.stop && *options_.stop; };
  const auto work = [&] {
    std::unique_lock lock(mutex);
    while (next < open.size() && !failure && !stopped()) {
      const std::size_t i = open[next++];
      lock.unlock();
      try {
        const sim::Simulated result = options_.simulate(scenarios[i], options_.losses);
        lock.lock();
        keep(keys[i], scenarios[i], result);
      } catch (...) {
        if (!lock) lock.lock();
        if (!failure) failure = std::current_exception();
      }
      ++done, done_weight += weight(scenarios[i]);
      ended.notify_all();
    }
    --busy;
    ended.notify_all();
  };
  {
    std::vector<std::jthread> threads;
    const std::size_t count = std::min<std::size_t>(open.size(), std::max(1, options_.at_once));
    busy = count;
    for (std::size_t t = 0; t < count; ++t) threads.emplace_back(work);
    std::optional<record::StatusLine> line;
    if (options_.progress) line.emplace(record::Screen::of(options_.progress));
    const double begin = now_seconds();
    std::unique_lock lock(mutex);
    while (busy > 0) {
      if (line && line->due()) line->show(status(done, open.size(), done_weight / all_weight, now_seconds() - begin));
      ended.wait_for(lock, std::chrono::milliseconds(100));
    }
  }
  if (stopped() && done < open.size() + (failure ? 1 : 0))
    throw Stopped(fmt::format("stopped after {} of {} scenarios{}", simulated_, open.size(),
                              options_.folder.empty() ? "" : "; the same command with --resume continues"));
  if (failure) std::rethrow_exception(failure);
  std::vector<sim::Simulated> results;
  for (const std::string& key : keys) results.push_back(*known(key));
  return results;
}

}  // namespace isobar::forecast
