// Session: what one group of ranks trains with: the job, both plans, the weights, and the batches as the network takes
// them. It decides everything that can be decided before the first step, and checks that all ranks decided alike.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "isobar/checkpoint/snapshot.hpp"
#include "isobar/train/batching.hpp"
#include "isobar/train/evaluation.hpp"
#include "isobar/train/joint_norm.hpp"
#include "isobar/train/viewer.hpp"

namespace isobar::train {

/// The network of a job as one rank computes it.
struct PlannedNetwork {
  std::shared_ptr<const ops::Tuning> tuning;  ///< null: the usual kernels
  std::unique_ptr<exec::ParamStore> store;
  std::unique_ptr<exec::Executor> trains, tests;  ///< `tests` is null without a test set
  std::unique_ptr<parallel::ComputedReplica> replica;
};

class Session {
 public:
  /// The batches of one step: one, or more while the batch is large.
  using Batches = std::vector<const feeding::Batch*>;

  /// Plans both phases and checks data against network, and that all ranks have the same; nothing is written. All ranks
  /// must call; `talk` is the world again, for what is said between steps. All of these must outlive the session.
  /// `under_way`: the run has begun already in this launch.
  Session(Job job, comm::Comm& world, comm::Comm& talk, StepTrace& trace, bool under_way);

  /// Stages the data; where the state of others is taken over, that may be refused. All ranks must call.
  void stage(bool takes_over);
  /// Reads training batches from that position on.
  std::unique_ptr<feeding::Loader> load_from(const checkpoint::Position& position) const;
  /// The micro-batches of a step over `total` samples of all ranks.
  std::vector<parallel::Feed> feeds_of(const Batches& batches, std::int64_t factor, const optim::Step& step,
                                       double total) const;
  /// Runs the test set, when there is one. All ranks must call.
  Evaluated evaluate(const std::atomic<bool>* stop) const;

  const Job& job() const { return job_; }
  comm::Comm& world() const { return world_; }
  comm::Comm& talk() const { return talk_; }
  bool is_first() const { return world_.rank() == 0; }
  parallel::Strategy& strategy() const { return *job_.strategy; }
  PlannedNetwork& network() { return network_; }
  const graph::Plan& plan() const { return network_.trains->plan(); }
  exec::ParamStore& store() const { return *network_.store; }
  const Batching& batching() const { return batching_; }
  std::int64_t batches_per_epoch() const { return batches_per_epoch_; }
  feeding::StagingCounters staging_counters() const { return staged_.counters(); }
  double staging_seconds() const { return staging_seconds_; }
  /// On rank 0 with a test set, once the data is staged; otherwise null.
  Viewer* viewer() const { return viewer_.get(); }

 private:
  void plan_network(bool under_way, StepTrace& trace);
  void expect_room(const graph::Plan& plan, const graph::Plan& test_plan) const;
  datasets::Sampler sampler() const;

  Job job_;
  comm::Comm& world_;
  comm::Comm& talk_;
  StepTrace& trace_;
  Batching batching_;
  PlannedNetwork network_;
  std::unique_ptr<JointNorm> norm_;  // null unless batches are normalised over all ranks
  StagedData staged_;
  std::int64_t batches_per_epoch_ = 0;
  double staging_seconds_ = 0;
  std::unique_ptr<Viewer> viewer_;
};

}  // namespace isobar::train
