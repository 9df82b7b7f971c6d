// RunRecord: a run as read from its folder, while it runs, afterwards, or after it was killed; everything that shows
// runs uses it. Missing files leave their part empty; a line torn by a crash, and everything after it, is ignored.
#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "isobar/base/spec.hpp"
#include "isobar/base/trace.hpp"
#include "isobar/pictures/picture.hpp"
#include "isobar/train/events.hpp"
#include "isobar/train/members.hpp"

namespace isobar::record {

/// A step, from metrics.jsonl and timing.jsonl.
struct StepRecord {
  std::int64_t step = 0, epoch = 0, samples = 0, bytes_sent = 0;
  double loss = 0, learning_rate = 0;
  double seconds = 0, wait_seconds = 0, exchange_seconds = 0;  ///< 0 when timing.jsonl lacks the step
  comm::ExchangeCosts costs{};                                 ///< likewise, and in runs of older versions
};

struct EpochRecord {
  std::int64_t epoch = 0, step = 0;
  double train_loss = 0, train_seconds = 0, test_seconds = 0;
  std::map<std::string, double> test{};        ///< loss and metrics; empty if it was not evaluated
  std::map<std::string, double> validation{};  ///< the same on the validation set
};

/// A stretch of the run without a restart, from the start and end lines of timing.jsonl.
struct RecordedSession {
  std::int64_t first_step = 0;
  std::optional<double> seconds{}, step_seconds{};  ///< known if it ended normally
  double exchange_waited = 0, exchange_busy = 0;
  std::map<std::string, double> staging{};
  std::string exchanged{};  ///< as in train::End
};

/// One traced step of one rank, from profile/rank<r>.jsonl; by category, including idle, of the main lane only.
struct ProfiledStep {
  std::int64_t step = 0;
  double seconds = 0;
  std::array<CategoryTotal, category_count> totals{};
  double hidden_exchange_seconds = 0;  ///< exchange while this rank did something else
};

/// One rank and its profile.
struct RankRecord {
  int rank = 0, node = 0;
  std::string host{};
  bool serves = false;  ///< its steps are updates of parameters that it keeps for others
  std::vector<ProfiledStep> steps{};
};

/// A kernel of the plan, from run.json.
struct PlannedStep {
  std::string name{}, kernel{}, category{}, shape{};
  double flops = 0, bytes = 0;
  double live_bytes = 0;                ///< of the arena, while it runs
  std::vector<int> final_parameters{};  ///< whose gradients are complete after it: indices of plan_parameters
  std::string talk{};                   ///< "start" or "finish" of messages; empty: it computes
};

/// Messages of the model, from run.json: what rank 0 sends for one node in a pass over a batch.
struct PlannedMessages {
  std::string node{}, circle{};
  std::vector<int> partners{};  ///< ranks of the circle
  comm::Traffic sent{};
};

/// A parameter of the plan, from run.json.
struct PlannedParameter {
  std::string name{};
  std::int64_t numbers = 0;  ///< of its gradient, padding included
  bool trained = true;
};

/// What the machine can do at best, for all ranks of the run together.
struct PeakRecord {
  double flops_per_second = 0, bytes_per_second = 0;
  std::string how{};  ///< how it was measured; empty: unknown
};

struct RunRecord {
  std::filesystem::path folder;
  Spec recipe{};  ///< resolved
  std::vector<StepRecord> steps{};
  std::vector<EpochRecord> epochs{};
  std::vector<RecordedSession> sessions{};
  std::string reason{};                  ///< how it ended: finished, interrupted; empty: still running, or killed
  std::map<std::string, double> test{};  ///< at the end
  train::BadSteps bad{};                 ///< steps affected by bad numbers

  // From run.json, which runs of older versions may lack.
  bool described = false;
  std::string started{}, command{};  ///< UTC, as 2026-11-16T10:30:00Z
  std::vector<std::pair<std::string, std::string>> versions{}, machine{};
  PeakRecord peaks{};
  int ranks = 1, nodes = 1, threads = 1;
  int teams = 1, ways = 1;  ///< as in train::Start
  std::string part{};       ///< of the model, on rank 0; empty: all of it
  std::int64_t global_batch = 0, parameters = 0, train_samples = 0, test_samples = 0, validation_samples = 0,
               planned_epochs = 0, steps_per_epoch = 0;
  double flops_per_sample = 0, arena_bytes = 0, weight_bytes = 0;
  std::string batching{}, strategy{}, placement{}, precision{}, fingerprint{};
  std::size_t forward_steps = 0;
  /// What the plan recomputes to save memory: steps, their work, and the arena without recomputing.
  std::int64_t again_steps = 0;
  double again_flops = 0, kept_arena_bytes = 0;
  std::vector<PlannedStep> plan{};
  std::vector<PlannedMessages> messages{};
  std::int64_t plan_rows = 0;  ///< samples the plan computes at a time; 0 and no parameters in runs of older versions
  std::vector<PlannedParameter> plan_parameters{};            ///< in the order their gradients become final
  std::vector<std::pair<std::string, std::string>> inputs{};  ///< name and shape of one sample

  std::vector<train::MembersChange> changes{};  ///< of the members, during the run

  std::vector<RankRecord> by_rank{};  ///< ranks that left a profile
  std::vector<pictures::Picture> pictures{};

  /// The network: "cosmoflow(size=32)" and "cosmoflow".
  std::string model() const;
  std::string model_name() const;
  /// Median over the steps, without the first three when there are more than six.
  double step_seconds() const;
  double samples_per_second() const;
  /// Sums over all steps.
  comm::ExchangeCosts exchange_costs() const;
  /// Sums over the traced steps of one rank.
  std::array<CategoryTotal, category_count> totals(const RankRecord& rank) const;
};

/// Reads a folder; one without recipe.toml is an Error that explains what a run folder is.
RunRecord read_run(const std::filesystem::path& folder);

/// Whether a folder is a run folder, that is, contains a recipe.
bool is_run(const std::filesystem::path& folder);

/// Reads only what is known before the first step, recipe and run.json, so the length of the run does not matter.
RunRecord read_run_facts(const std::filesystem::path& folder);

/// An event of trace/rank<r>.json, of the traced steps.
struct TraceEvent {
  std::string name{}, category{};
  Lane lane = Lane::main;
  std::int64_t step = 0;
  double begin = 0, seconds = 0, flops = 0, bytes = 0;  ///< seconds since the trace began
};

/// The events of one rank; empty if it left no trace.
std::vector<TraceEvent> read_trace(const std::filesystem::path& folder, int rank);

/// What a line of metrics.jsonl says about bad numbers.
train::BadSteps bad_steps(const nlohmann::json& line);

/// The lines of a file up to the first that is not a JSON object; empty if the file does not exist.
std::vector<nlohmann::json> read_json_lines(const std::filesystem::path& file);

}  // namespace isobar::record
