// What a run tells the world while it runs, and who listens. The trainer knows sinks only by this interface.
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
#include "isobar/comm/reducer.hpp"
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
  std::int64_t train_samples = 0, test_samples = 0;
  std::int64_t epochs = 0, steps_per_epoch = 0;
  std::int64_t first_step = 0;  ///< above 0 when resumed
  /// Epochs that were finished then, evaluation included; what the record has of later ones is told again.
  std::int64_t first_epoch = std::numeric_limits<std::int64_t>::max();
  /// How the members have changed so far, in this launch. When there are any the run is not a new one, and goes on
  /// behind the last of them; who is told may have been another rank before, or nobody.
  std::vector<MembersChange> changes{};
  std::size_t arena_bytes = 0, weight_bytes = 0;
  std::size_t snapshot_bytes = 0;    ///< of the copy that checkpoints are written from, on rank 0
  std::size_t good_state_bytes = 0;  ///< of copies to go back to when numbers go bad; 0: there are none
  int threads = 1;                   ///< of each rank
  int ranks = 1, nodes = 1;
  std::int64_t global_batch = 1;      ///< samples of a step, all ranks together
  std::string batching{};             ///< how they are divided: "global batch 8: 2 ranks with 1 micro-batch of 4"
  std::string strategy{};             ///< how ranks are kept together, as it describes itself
  std::string placement{};            ///< which cores ranks and threads are bound to; empty when nobody bound them
  double staging_seconds = 0;         ///< until the data was staged on all ranks and what is learned from it was known
  int rank = 0;                       ///< of the listener: 0, unless the sink listens on every rank
  int node = 0;                       ///< it is on
  const graph::Plan* plan = nullptr;  ///< of a training step on this rank; lives as long as the run
  std::int64_t tuned = 0;             ///< kernels chosen by what tuning measured; 0: the usual ones run
  const exec::ParamStore* store = nullptr;  ///< weights, and gradients of the last step; lives as long as the run

  /// Whether there is a record of the run already that is to be kept.
  bool goes_on() const { return first_step > 0 || !changes.empty(); }
};

/// A step that was traced in detail, as this rank lived it.
struct StepTraced {
  std::int64_t step = 0;
  double begin = 0, seconds = 0;    ///< on now_seconds(); waiting for input included
  std::span<const Event> events{};  ///< of all lanes; those of the main lane follow each other, idle time included
  const Trace* trace = nullptr;     ///< whose names() they index
};

/// What bad numbers have done to the run so far.
struct BadSteps {
  std::int64_t steps = 0;    ///< that were dropped
  std::int64_t rewinds = 0;  ///< of these, those after which the model went back to an earlier state
  double rate_scale = 1;     ///< what the learning rate is multiplied by since

  std::string str() const;  ///< "3 steps with bad numbers, 2 rewinds, learning rate x 0.25"; empty when there are none
};

struct StepDone {
  std::int64_t step = 0;           ///< counts from 1 over the whole run
  std::int64_t epoch = 0;          ///< counts from 1
  std::int64_t step_in_epoch = 0;  ///< global batches of the epoch that are done
  std::int64_t samples = 0;        ///< of all ranks
  double loss = 0;
  double learning_rate = 0;
  double seconds = 0;           ///< of this step, waiting for input included
  double wait_seconds = 0;      ///< of these, waiting for input
  double exchange_seconds = 0;  ///< of these, this rank stood still for other ranks
  std::int64_t bytes_sent = 0;  ///< by this rank, to exchange gradients
  BadSteps bad{};
};

/// A step with numbers that were not finite, dropped on all ranks: it has no StepDone.
struct BadStep {
  std::int64_t step = 0, epoch = 0;       ///< as in StepDone
  std::string found{};                    ///< "the gradient of 'conv.w': 3 of 288 not finite, the others from -1 to 1"
  std::optional<std::int64_t> back_to{};  ///< the step after which the model was as it is now; none: it stays
  BadSteps bad{};                         ///< this one included
};

struct EpochDone {
  std::int64_t epoch = 0;  ///< counts from 1
  std::int64_t step = 0;
  double train_loss = 0;                 ///< mean over the epoch
  std::map<std::string, double> test{};  ///< loss and metrics on the test set, when it was evaluated
  double train_seconds = 0, test_seconds = 0;
  /// Bad samples that were left out, when that is allowed.
  std::optional<std::int64_t> skipped{}, test_skipped{};
  BadSteps bad{};            ///< in the whole run
  Viewer* viewer = nullptr;  ///< what the network makes of the test set, while the sink is told; null without one
};

/// A checkpoint that is on disk.
struct CheckpointDone {
  std::filesystem::path file;
  std::int64_t step = 0;
  double bytes = 0;
  double seconds = 0;        ///< the run stood still for it
  double write_seconds = 0;  ///< until it was on disk, mostly while training went on
};

/// How many there were in this session.
struct SaveCounts {
  std::int64_t written = 0;
  std::int64_t left_out = 0;  ///< because the one before was still being written
  std::int64_t failed = 0;    ///< because the disk would not take them
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
  std::optional<std::int64_t> skipped{};     ///< bad samples left out of training in this run, when allowed
  std::vector<std::string> first_skipped{};  ///< what was wrong with the first of them
  BadSteps bad{};                            ///< in the whole run
  std::vector<std::pair<std::string, std::int64_t>> staging{};  ///< what was read and moved, by name
  comm::ExchangeCost exchange{};                                ///< what exchanging has cost this rank
  double step_seconds = 0;                                      ///< of all steps of this run together
  Viewer* viewer = nullptr;                                     ///< as in EpochDone
  SaveCounts checkpoints{};
};

/// How far the record of a run reaches that a sink has found and goes on with.
struct Reached {
  std::int64_t step = 0, epoch = 0;
};

/// Which sinks are told of an event before which; those of one turn in the order they are listed in.
enum class SinkTurn {
  first,   ///< decides something for the others
  usual,   ///< minds no other sink
  reader,  ///< reads what those before it have written
  last     ///< looks back at what all have done
};

/// Receives the trainer's events and shows or stores them; every function may be left out.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual SinkTurn turn() const { return SinkTurn::usual; }
  /// Most sinks are told on rank 0 only. One that listens on every rank is told start(), traced() and end() there too.
  virtual bool on_every_rank() const { return false; }
  virtual void start(const Start&) {}
  /// Asked after start(): when members have changed, steps and epochs behind this are told again, because who was told
  /// them first may have died before they were written.
  virtual Reached reached(const Start& start) const { return {start.first_step, start.first_epoch}; }
  virtual void step(const StepDone&) {}
  virtual void bad_step(const BadStep&) {}
  virtual void traced(const StepTraced&) {}
  virtual void epoch(const EpochDone&) {}
  virtual void checkpoint(const CheckpointDone&) {}
  virtual void end(const End&) {}
};

}  // namespace isobar::train
