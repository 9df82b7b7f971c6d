// The events that a run reports while it runs, and the sinks that receive them. The trainer knows sinks only by this
// interface.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "isobar/base/spec.hpp"
#include "isobar/base/trace.hpp"
#include "isobar/comm/exchange_costs.hpp"
#include "isobar/exec/param_store.hpp"
#include "isobar/train/members.hpp"
#include "isobar/train/viewer.hpp"

namespace isobar::train {

/// Before the first step.
struct Start {
  Spec recipe;  ///< resolved: every key with the value in force
  std::filesystem::path folder;
  std::int64_t parameters = 0;
  double flops_per_sample = 0;  ///< forward and backward
  std::int64_t train_samples = 0, test_samples = 0, validation_samples = 0;
  std::int64_t epochs = 0, steps_per_epoch = 0;
  std::int64_t first_step = 0;  ///< above 0 when resumed
  /// Epochs that were finished by then, evaluation included; later ones that the record has are reported again.
  std::int64_t first_epoch = std::numeric_limits<std::int64_t>::max();
  /// How the members have changed so far, in this launch. If there are changes, the run is not new and continues after
  /// the last of them; earlier events may have been reported on another rank, or not at all.
  std::vector<MembersChange> changes{};
  std::size_t arena_bytes = 0, weight_bytes = 0;
  std::size_t snapshot_bytes = 0;    ///< of the copy that checkpoints are written from, on rank 0
  std::size_t good_state_bytes = 0;  ///< of copies to go back to after bad numbers; 0: there are none
  int threads = 1;                   ///< of each rank
  int ranks = 1, nodes = 1;
  int teams = 1;                      ///< which take their steps at their own pace; what is reported is of the first
  std::int64_t global_batch = 1;      ///< samples of a step, all ranks together
  std::string batching{};             ///< how they are divided: "global batch 8: 2 ranks with 1 micro-batch of 4"
  std::string strategy{};             ///< the strategy's description of itself
  std::string placement{};            ///< which cores ranks and threads are bound to; empty if they are not bound
  double staging_seconds = 0;         ///< until all ranks had staged the data and learned from it what transforms need
  int rank = 0;                       ///< of the listener: 0, unless the sink listens on every rank
  int node = 0;                       ///< of that rank
  bool serves = false;                ///< that rank keeps parameters: its steps are updates, and it has no plan
  int ways = 1;                       ///< ranks that one model is cut over
  std::string part{};                 ///< of the model, on this rank: "depth 0-63 of 128"; empty: all of it
  const graph::Plan* plan = nullptr;  ///< of a training step on this rank, of its part; lives as long as the run
  std::int64_t tuned = 0;             ///< kernels chosen by tuning; 0: the default ones run
  const exec::ParamStore* store = nullptr;  ///< weights, and gradients of the last step; lives as long as the run
  /// Of the whole model, for one sample, where it is cut; empty: those of the plan.
  std::vector<datasets::Field> inputs{};

  /// Whether the run already has a record that must be kept.
  bool goes_on() const { return first_step > 0 || !changes.empty(); }
};

/// A step that was traced in detail, as seen by this rank.
struct StepTraced {
  std::int64_t step = 0;
  double begin = 0, seconds = 0;    ///< on now_seconds(); waiting for input included
  std::span<const Event> events{};  ///< of all lanes; those of the main lane follow each other, idle time included
  const Trace* trace = nullptr;     ///< whose names() they index
};

/// What bad numbers have done to the run so far.
struct BadSteps {
  std::int64_t steps = 0;    ///< that were dropped
  std::int64_t rewinds = 0;  ///< how many of these sent the model back to an earlier state
  double rate_scale = 1;     ///< what the learning rate has been multiplied by since

  std::string str() const;  ///< "3 steps with bad numbers, 2 rewinds, learning rate x 0.25"; empty when there are none
};

struct StepDone {
  std::int64_t step = 0;           ///< counts from 1 over the whole run
  std::int64_t epoch = 0;          ///< counts from 1
  std::int64_t step_in_epoch = 0;  ///< global batches of the epoch that are finished
  std::int64_t samples = 0;        ///< of all ranks of the team
  double loss = 0;
  double learning_rate = 0;
  double seconds = 0;           ///< of this step, waiting for input included
  double wait_seconds = 0;      ///< the part spent waiting for input
  double exchange_seconds = 0;  ///< the part in which this rank was idle, waiting for other ranks
  std::int64_t bytes_sent = 0;  ///< by this rank
  BadSteps bad{};
  comm::ExchangeCosts costs{};  ///< what both are made of
};

/// A step with numbers that were not finite, dropped on all ranks: it has no StepDone.
struct BadStep {
  std::int64_t step = 0, epoch = 0;       ///< as in StepDone
  std::string found{};                    ///< "the gradient of 'conv.w': 3 of 288 not finite, the others from -1 to 1"
  std::optional<std::int64_t> back_to{};  ///< the model is again as it was after this step; empty: it is unchanged
  BadSteps bad{};                         ///< this one included
};

struct EpochDone {
  std::int64_t epoch = 0;  ///< counts from 1
  std::int64_t step = 0;
  double train_loss = 0;                       ///< mean over the epoch
  std::map<std::string, double> test{};        ///< loss and metrics on the test set, if it was evaluated
  double train_seconds = 0, test_seconds = 0;  ///< test_seconds: of all evaluations
  /// Bad samples that were left out, if that is allowed.
  std::optional<std::int64_t> skipped{}, test_skipped{};
  BadSteps bad{};            ///< in the whole run
  Viewer* viewer = nullptr;  ///< shows predictions for the test set, valid during this call; null without one
  std::map<std::string, double> validation{};  ///< as `test`, on the validation set
  std::optional<std::int64_t> validation_skipped{};
};

/// A checkpoint that is on disk.
struct CheckpointDone {
  std::filesystem::path file;
  std::int64_t step = 0;
  double bytes = 0;
  double seconds = 0;        ///< for which training was paused
  double write_seconds = 0;  ///< until it was on disk, mostly while training continued
};

/// Checkpoints of this session.
struct SaveCounts {
  std::int64_t written = 0;
  std::int64_t left_out = 0;  ///< because the previous one was still being written
  std::int64_t failed = 0;    ///< because they could not be written
};

/// After the last step.
struct End {
  enum class Reason { finished, interrupted } reason = Reason::finished;
  std::int64_t steps = 0;
  double seconds = 0;
  std::map<std::string, double> test{};
  std::vector<std::string> target_names{};
  Shape target_shape{};                  ///< one row of targets; of predictions too, unless they are classes
  std::span<const float> predictions{};  ///< of the whole test set, row by row
  std::span<const float> targets{};
  const Trace* trace = nullptr;
  std::optional<std::int64_t> skipped{};     ///< bad samples left out of training in this run, if allowed
  std::vector<std::string> first_skipped{};  ///< what was wrong with the first of them
  BadSteps bad{};                            ///< in the whole run
  std::vector<std::pair<std::string, std::int64_t>> staging{};  ///< what was read and moved, by name
  std::string exchanged{};         ///< what came of the strategy: who did how much; empty: nothing to tell
  comm::ExchangeCosts exchange{};  ///< what exchanging has cost this rank
  double step_seconds = 0;         ///< of all steps of this run together
  Viewer* viewer = nullptr;        ///< as in EpochDone
  SaveCounts checkpoints{};
};

/// How far the existing record of a run reaches, which a sink continues.
struct Reached {
  std::int64_t step = 0, epoch = 0;
};

/// The order in which sinks receive an event; sinks with the same turn receive it in the order they are listed.
enum class SinkTurn {
  first,   ///< decides something for the others
  usual,   ///< independent of other sinks
  reader,  ///< reads what earlier sinks have written
  last     ///< looks back at what all have done
};

/// Receives the trainer's events and shows or stores them; every function is optional.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual SinkTurn turn() const { return SinkTurn::usual; }
  /// Most sinks receive events on rank 0 only; if true, the sink receives start(), traced() and end() on all ranks.
  virtual bool on_every_rank() const { return false; }
  virtual void start(const Start&) {}
  /// Called after start(): when members have changed, later steps and epochs are reported again, because the rank that
  /// received them first may have died before writing them.
  virtual Reached reached(const Start& start) const { return {start.first_step, start.first_epoch}; }
  virtual void step(const StepDone&) {}
  virtual void bad_step(const BadStep&) {}
  virtual void traced(const StepTraced&) {}
  virtual void epoch(const EpochDone&) {}
  virtual void checkpoint(const CheckpointDone&) {}
  virtual void end(const End&) {}
};

}  // namespace isobar::train
