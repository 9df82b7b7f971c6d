// Recorder: keeps the events of a trainer, and can ask it to stop at a step. And runs of small jobs on several ranks.
#pragma once

#include <omp.h>

#include "isobar/comm/local_comm.hpp"

#include "tests/train/small_job.hpp"

namespace isobar::train {

class Recorder final : public Sink {
 public:
  explicit Recorder(std::int64_t stop_at = -1) : stop_at_(stop_at) {}
  void start(const Start& s) override { started = s; }
  void step(const StepDone& s) override {
    losses.push_back(s.loss);
    steps.push_back(s);
    if (s.step == stop_at_) stop = true;
  }
  void bad_step(const BadStep& b) override { bad.push_back(b); }
  void epoch(const EpochDone& e) override { epochs.push_back(e); }
  void checkpoint(const CheckpointDone&) override { ++checkpoints; }
  void end(const End& e) override {
    last = e;
    predictions.assign(e.predictions.begin(), e.predictions.end());
    targets.assign(e.targets.begin(), e.targets.end());
  }

  std::atomic<bool> stop = false;
  Start started;
  std::vector<double> losses;
  std::vector<StepDone> steps;
  std::vector<BadStep> bad;
  std::vector<EpochDone> epochs;
  std::vector<float> predictions, targets;
  int checkpoints = 0;
  End last;

 private:
  std::int64_t stop_at_;
};

/// The results of a run.
struct Ran {
  std::vector<double> losses;
  std::vector<EpochDone> epochs;
  std::vector<float> predictions, targets;
  /// Of every rank that trains, in plain layout, because others depend on the batch.
  std::vector<std::vector<float>> weights;
  End last;
};

/// In the order of their names: that of a store depends on the plan.
inline std::vector<float> plain_weights(const exec::ParamStore& store) {
  std::map<std::string, std::vector<float>> plain;
  for (int p = 0; p < store.count(); ++p) {
    std::vector<float>& numbers = plain[store.parameter(p).name];
    numbers.resize(static_cast<std::size_t>(store.parameter(p).declared.shape.count()));
    store.read_plain(p, store.weight(p), numbers);
  }
  std::vector<float> all;
  for (const auto& [name, numbers] : plain) all.insert(all.end(), numbers.begin(), numbers.end());
  return all;
}

using JobMaker = std::function<Job(int rank)>;

/// Trains on `ranks` ranks, threads of this process that compute with one thread each, all on one node unless said
/// otherwise; `stop` gives the flag that rank r watches.
inline Ran run_on(int ranks, const JobMaker& make_job, Recorder& recorder,
                  const std::function<const std::atomic<bool>*(int rank)>& stop = {}, int per_node = 0) {
  Ran ran;
  ran.weights.resize(static_cast<std::size_t>(ranks));
  const auto work = [&](comm::Comm& comm) {
    omp_set_num_threads(1);
    Trainer trainer(make_job(comm.rank()), comm, {&recorder});
    trainer.run(stop ? stop(comm.rank()) : nullptr);
    if (trainer.trains()) ran.weights[comm.rank()] = plain_weights(trainer.store());
  };
  comm::run_ranks(ranks, work, per_node > 0 ? per_node : ranks);
  ran.losses = recorder.losses;
  ran.epochs = recorder.epochs;
  ran.predictions = recorder.predictions;
  ran.targets = recorder.targets;
  ran.last = recorder.last;
  return ran;
}

inline Ran run_on(int ranks, const std::filesystem::path& folder, const std::vector<const char*>& settings) {
  Recorder recorder;
  return run_on(
      ranks, [&](int) { return small_job(folder, settings); }, recorder);
}

}  // namespace isobar::train
