// Ledger: all the work that went into a run folder, from timing.jsonl and history.jsonl: what counts, what was done
// again after a restart, and what an --overwrite threw away. Tuning is part of what a result has cost.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "isobar/record/run_record.hpp"

namespace isobar::report {

/// How one stretch of a run was started.
struct Setup {
  int ranks = 1, threads = 1;
  std::int64_t global_batch = 0;
  std::optional<double> staging_seconds{};  ///< unknown in runs of older programs

  friend bool operator==(const Setup& a, const Setup& b) {
    return a.ranks == b.ranks && a.threads == b.threads && a.global_batch == b.global_batch;
  }
};

struct Ledger {
  std::int64_t steps = 0, samples = 0;
  double step_seconds = 0, wait_seconds = 0, test_seconds = 0, checkpoint_seconds = 0;
  std::vector<Setup> setups{};
  std::vector<std::pair<std::int64_t, double>> epochs{};  ///< number, and kept_seconds() when it was evaluated

  bool has_history = false;  ///< starts were written down
  int starts = 0, resumed = 0, overwritten = 0;
  std::int64_t dropped_steps = 0;  ///< redone after a restart, or overwritten
  double dropped_seconds = 0;

  /// Of everything that was timed and kept: steps, evaluations, checkpoints.
  double kept_seconds() const { return step_seconds + test_seconds + checkpoint_seconds; }
  /// With the staging of every session.
  double staging_seconds() const;
  double all_seconds() const { return kept_seconds() + staging_seconds() + dropped_seconds; }
  std::int64_t all_steps() const { return steps + dropped_steps; }
};

/// "0.68 s", "42.3 s", "2:03": short times with three digits.
std::string short_seconds(double seconds);

/// "10,140 samples/s", "26.1 samples/s".
std::string told_speed(double samples_per_second);

/// Reads a folder; what is missing in it counts as nothing.
Ledger read_ledger(const std::filesystem::path& folder);

/// Another run of the same network and training data, with a folder beside it.
struct Sibling {
  std::filesystem::path folder;
  Spec recipe{};
  Ledger ledger{};
};

struct Siblings {
  std::vector<Sibling> runs{};  ///< in the order of their names
  bool all = true;              ///< false when there was too much to look at all of them
};

/// Those of `run`: looks at some hundreds of folders and at most `most_bytes` of their timing.
Siblings siblings_of(const record::RunRecord& run, std::uintmax_t most_bytes = 64'000'000);

/// The training data of a recipe, "universe(size=32)"; empty when there is none.
std::string training_data(const Spec& recipe);

}  // namespace isobar::report
