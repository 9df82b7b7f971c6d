// Ledger: all the work that went into a run folder, from timing.jsonl and history.jsonl: what counts, what was repeated
// after a restart, and what an --overwrite discarded. Tuning is part of the cost of a result.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "isobar/record/run_record.hpp"

namespace isobar::report {

/// How one session of a run was started.
struct Setup {
  int ranks = 1, threads = 1;
  std::int64_t global_batch = 0;
  std::optional<double> staging_seconds{};  ///< unknown in runs of older versions

  friend bool operator==(const Setup& a, const Setup& b) {
    return a.ranks == b.ranks && a.threads == b.threads && a.global_batch == b.global_batch;
  }
};

struct Ledger {
  std::int64_t steps = 0, samples = 0;
  double step_seconds = 0, wait_seconds = 0, test_seconds = 0, checkpoint_seconds = 0;
  std::vector<Setup> setups{};
  std::vector<std::pair<std::int64_t, double>> epochs{};  ///< number, and kept_seconds() when it was evaluated

  bool has_history = false;  ///< starts were recorded
  int starts = 0, resumed = 0, overwritten = 0;
  std::int64_t dropped_steps = 0;  ///< repeated after a restart, or overwritten
  double dropped_seconds = 0;

  /// The time of everything kept: steps, evaluations, checkpoints.
  double kept_seconds() const { return step_seconds + test_seconds + checkpoint_seconds; }
  /// The sum over all sessions.
  double staging_seconds() const;
  double all_seconds() const { return kept_seconds() + staging_seconds() + dropped_seconds; }
  std::int64_t all_steps() const { return steps + dropped_steps; }
};

/// "0.68 s", "42.3 s", "2:03"; three digits below 100 s.
std::string short_seconds(double seconds);

/// "10,140 samples/s", "26.1 samples/s".
std::string told_speed(double samples_per_second);

/// Reads a folder; missing files count as nothing.
Ledger read_ledger(const std::filesystem::path& folder);

/// Another run of the same network and training data, in a folder beside this one.
struct Sibling {
  std::filesystem::path folder;
  Spec recipe{};
  Ledger ledger{};
};

struct Siblings {
  std::vector<Sibling> runs{};  ///< in the order of their names
  bool all = true;              ///< false if there was too much to read all of them
};

/// The siblings of `run`; reads at most a few hundred folders and `most_bytes` of their timing.
Siblings siblings_of(const record::RunRecord& run, std::uintmax_t most_bytes = 64'000'000);

/// The training data of a recipe, "universe(size=32)"; empty if there are none.
std::string training_data(const Spec& recipe);

}  // namespace isobar::report
