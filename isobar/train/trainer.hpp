// Trainer: epochs, evaluation, checkpoints, stopping. It knows strategies and sinks only by their interfaces.
// The same recipe and seed give the same bits, whether or not the run was interrupted and resumed on the way.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "isobar/exec/executor.hpp"
#include "isobar/train/checkpoint.hpp"
#include "isobar/train/evaluation.hpp"
#include "isobar/train/events.hpp"
#include "isobar/train/job.hpp"

namespace isobar::train {

class Trainer {
 public:
  /// Plans both phases and checks data against network; nothing is written yet. Sinks must outlive the trainer.
  Trainer(Job job, std::vector<Sink*> sinks);

  /// Trains to the end, or until `stop` is set: then a checkpoint is written and the run can be resumed.
  End::Reason run(const std::atomic<bool>* stop = nullptr);

  const Evaluated& last_evaluation() const { return evaluated_; }
  const Trace& trace() const { return trace_; }
  const graph::Plan& plan() const { return executor_->plan(); }
  exec::ParamStore& store() { return *store_; }

 private:
  data::Sampler sampler() const;
  void prepare_folder();
  void announce();
  bool train_epoch(data::Loader& loader, const std::atomic<bool>* stop);
  void train_step(const data::Batch& batch, double begin, double wait_seconds);
  void stage();
  void note_skipped(const data::Loader& loader);
  bool finish_epoch(double train_seconds, const std::atomic<bool>* stop);
  void save();
  std::filesystem::path checkpoint_file() const { return job_.folder / "checkpoint.h5"; }

  Job job_;
  std::vector<Sink*> sinks_;
  Trace trace_;
  std::uint32_t wait_name_;
  std::unique_ptr<exec::ParamStore> store_;
  std::unique_ptr<exec::Executor> executor_, test_executor_;
  std::unique_ptr<parallel::ComputedReplica> replica_;
  Position position_;
  std::int64_t steps_per_epoch_ = 0;
  Evaluated evaluated_;
  std::function<data::StagingCounters()> staged_;
  std::int64_t skipped_ = 0;  // in this run
  std::vector<std::string> first_skipped_;
};

}  // namespace isobar::train
