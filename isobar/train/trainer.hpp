// Trainer: epochs, evaluation, checkpoints, stopping. It knows strategies and sinks only by their interfaces.
// The same recipe and seed give the same bits, whether or not the run was interrupted and resumed on the way; on
// another number of ranks it trains on the same batches. Whatever ends one rank ends all of them with one message.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "isobar/exec/executor.hpp"
#include "isobar/train/batching.hpp"
#include "isobar/train/carried.hpp"
#include "isobar/train/checkpoint.hpp"
#include "isobar/train/evaluation.hpp"
#include "isobar/train/events.hpp"
#include "isobar/train/good_states.hpp"
#include "isobar/train/job.hpp"
#include "isobar/train/saving.hpp"

namespace isobar::train {

class Trainer {
 public:
  /// Plans both phases, checks data against network, and that all ranks have the same; nothing is written yet. All
  /// ranks of `world` must call; it and the sinks must outlive the trainer. Rank 0 alone writes files and tells the
  /// sinks, except those that listen on every rank. With `carried`, which must outlive the trainer, the run goes on
  /// from the newest state a rank has in there; and when run() ends with MembersChanged, this rank's state is in there.
  Trainer(Job job, comm::Comm& world, std::vector<Sink*> sinks, Carried* carried = nullptr);
  /// As above, for one rank alone.
  Trainer(Job job, std::vector<Sink*> sinks);

  /// Trains to the end, or until `stop` is set on some rank: then a checkpoint is written and the run can be resumed.
  End::Reason run(const std::atomic<bool>* stop = nullptr);

  const Evaluated& last_evaluation() const { return evaluated_; }
  const Trace& trace() const { return trace_.all(); }
  const graph::Plan& plan() const { return executor_->plan(); }
  const Batching& batching() const { return batching_; }
  exec::ParamStore& store() { return *store_; }

 private:
  /// The batches of one step: one, or more while the batch is large.
  using Batches = std::vector<const data::Batch*>;
  /// What ranks know of each other before a step.
  struct Agreed {
    bool stop = false, save = false;
    std::int64_t samples = 0, skipped = 0;
  };

  Trainer(Job job, std::unique_ptr<comm::Comm> alone, comm::Comm* world, std::vector<Sink*> sinks, Carried* carried);
  void plan_run();
  void meet_members();
  void open();
  void note_change();
  void tell_again(const Start& start);
  void finish_step();
  void carry();
  End::Reason run_guarded(const std::atomic<bool>* stop);
  Kept kept() { return {job_.strategy->kept(), job_.strategy->kept_numbers(), job_.strategy->own_numbers()}; }
  bool first() const { return world_.rank() == 0; }
  data::Sampler sampler() const;
  data::LoaderOptions loader_options();
  void expect_room(const graph::Plan& plan, const graph::Plan& test_plan) const;
  void join_batch_norm();
  void stage();
  void announce();
  bool train_epochs(const std::atomic<bool>* stop);
  bool train_epoch(data::Loader& loader, const std::atomic<bool>* stop);
  optim::Progress progress(std::int64_t factor) const;
  bool is_traced(std::int64_t factor) const;
  Batches next_batches(data::Loader& loader, std::int64_t factor) const;
  Agreed agree(const Batches& batches, bool stop);
  std::vector<parallel::Feed> feeds_of(const Batches& batches, std::int64_t factor, const optim::Step& step,
                                       double total) const;
  void train_step(const Batches& batches, std::int64_t factor, const Agreed& agreed, double begin, double wait_seconds);
  void tell(const StepDone& done, double begin, double end);
  // Bad numbers: trainer_numbers.cpp.
  bool tries_again() const { return job_.numbers.policy != BadNumbers::Policy::stop; }
  BadSteps bad_steps() const { return {position_.bad_steps, position_.rewinds, position_.rate_scale}; }
  void begin_good_states();
  void renew_good_state();
  void meet_bad_numbers(const parallel::NotFinite& found, std::span<const parallel::Feed> feeds,
                        const optim::Step& step, std::int64_t epoch);
  std::int64_t go_back();
  void finish_updates();
  [[noreturn]] void end_by_bad_numbers(const parallel::NotFinite& found, std::span<const parallel::Feed> feeds,
                                       const optim::Step& step, std::int64_t epoch, const std::string& advice);
  bool finish_epoch(double train_seconds, const std::atomic<bool>* stop);
  void note_skipped(const data::Loader& loader);
  void meet(const std::string& what);
  void save(SaveAs as);
  void save_settled(SaveAs as);
  void gather_own(Snapshot& into, const std::vector<float>& statistics, const std::vector<double>& numbers);
  bool save_follows(std::int64_t batches);
  void note_metrics(const EpochDone& done);
  void save_behind_epoch(const EpochDone& done);
  void tell(const std::vector<CheckpointDone>& saved);
  std::string save_last();
  void finish(End::Reason reason, double seconds);

  StepTrace trace_;  // before the strategy, whose threads may record until they end
  Job job_;
  std::unique_ptr<comm::Comm> alone_;  // the world, when there is no other
  comm::Comm& world_;
  std::unique_ptr<comm::Comm> talk_;  // the world again, for what is said between steps: meets no message of a strategy
  std::unique_ptr<comm::Comm> norm_group_;                 // once more, for sums within a pass
  std::function<void(std::span<float>)> sum_within_pass_;  // empty unless batches are normalised over all ranks
  std::vector<Sink*> sinks_;                               // on ranks above 0 those that listen on every rank
  std::uint32_t wait_name_, agree_name_, norm_name_;
  std::int64_t session_steps_ = 0;  // since the start or resume
  Batching batching_;
  std::shared_ptr<const ops::Tuning> tuning_;  // null: the usual kernels
  std::unique_ptr<exec::ParamStore> store_;
  std::unique_ptr<exec::Executor> executor_, test_executor_;
  std::unique_ptr<Viewer> viewer_;  // on rank 0, with a test set
  std::unique_ptr<parallel::ComputedReplica> replica_;
  Position position_;
  GoodStates good_states_;          // empty unless the run may go back to them
  std::unique_ptr<Saving> saving_;  // on rank 0, once the run is open
  std::string metrics_;             // of the epochs so far, for checkpoints: one line of JSON each
  double best_ = 0;                 // of the metric that best.h5 follows, as every rank knows it; NaN: none yet
  std::int64_t batches_per_epoch_ = 0;
  Evaluated evaluated_;
  StagedData staged_;
  Carried* carried_;              // null where ranks do not die
  Standing standing_;             // what the ranks brought
  bool opened_ = false;           // the store holds the state of the run
  Position finished_;             // after the last step or epoch that was finished
  bool stopping_ = false;         // the ranks have agreed to stop
  double opened_at_ = 0;          // on now_seconds()
  std::int64_t passed_over_ = 0;  // bad samples since then, on all ranks
  double step_seconds_ = 0, staging_seconds_ = 0;
  std::int64_t skipped_ = 0;  // in this run, on all ranks
  std::vector<std::string> first_skipped_;
};

}  // namespace isobar::train
