// Session: what one group of ranks trains with: the job, both plans, the weights, and the batches as the network takes
// them. It decides everything that can be decided before the first step, and checks that all ranks decided alike.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "isobar/checkpoint/snapshot.hpp"
#include "isobar/comm/exchange_costs.hpp"
#include "isobar/train/batching.hpp"
#include "isobar/train/circles.hpp"
#include "isobar/train/evaluation.hpp"
#include "isobar/train/replica_part.hpp"
#include "isobar/train/run_groups.hpp"
#include "isobar/train/viewer.hpp"

namespace isobar::train {

/// The network of a job as one rank computes it.
struct PlannedNetwork {
  std::shared_ptr<const ops::Tuning> tuning;  ///< null: the usual kernels
  std::unique_ptr<exec::ParamStore> store;
  std::unique_ptr<exec::Executor> trains, tests;  ///< `tests` is null where nothing is evaluated
  std::unique_ptr<Predictor> judged;              ///< what is evaluated: by `tests`, and null like it
  std::unique_ptr<parallel::Replica> replica;
};

class Session {
 public:
  /// The batches of one step: one, or more while the batch is large.
  using Batches = std::vector<const feeding::Batch*>;

  /// Plans both phases and checks data against network, and that all ranks have the same; nothing is written. All ranks
  /// that train must call. `under_way`: the run has begun already in this launch. The groups must outlive the
  /// session.
  Session(Job job, const RunGroups& groups, StepTrace& trace, bool under_way);

  /// Stages the data; where the state of others is taken over, that may be refused. All ranks must call.
  void stage(bool takes_over);
  /// Reads training batches from that position on.
  std::unique_ptr<feeding::Loader> load_from(const checkpoint::Position& position) const;
  /// The micro-batches of a step over so many samples of all ranks.
  std::vector<parallel::Feed> feeds_of(const Batches& batches, std::int64_t factor, const optim::Step& step,
                                       double samples) const;
  /// Runs the test set, when there is one. All ranks must call.
  Evaluated evaluate(const std::atomic<bool>* stop) const;
  /// Runs the validation set, when there is one. All ranks must call.
  Evaluated validate(const std::atomic<bool>* stop) const;

  const Job& job() const { return job_; }
  comm::Comm& trainers() const { return groups_.trainers(); }
  comm::Comm& start() const { return groups_.start(); }
  comm::Comm& talk() const { return groups_.talk(); }
  /// Whether this is the rank that writes files.
  bool is_first() const { return groups_.trainers().rank() == 0; }
  parallel::Strategy& strategy() const { return *job_.strategy; }
  /// What the strategy keeps from step to step besides the model.
  exec::StateBlocks kept() const { return strategy().state(*network_.replica); }
  PlannedNetwork& network() { return network_; }
  const graph::Plan& plan() const { return network_.trains->plan(); }
  exec::ParamStore& store() const { return *network_.store; }
  const Batching& batching() const { return batching_; }
  std::int64_t batches_per_epoch() const { return batches_per_epoch_; }
  feeding::StagingCounters staging_counters() const { return staged_.counters(); }
  double staging_seconds() const { return staging_seconds_; }
  /// This rank's part of the model.
  const ReplicaPart& part() const { return part_; }
  /// Of a step for a sample, by all ranks that share it.
  double flops_per_sample() const { return flops_per_sample_; }
  /// What talking with other ranks has cost this one so far, in training steps.
  comm::ExchangeCosts exchange_costs() const { return {strategy().cost(), network_.trains->message_cost()}; }
  /// Calls `work`; on rank 0 with a viewer, if there is a test set, once the data is staged; otherwise with null. All
  /// ranks must call, because those that predict together with rank 0 compute their parts of what it views.
  void viewed(const std::function<void(Viewer*)>& work) const;

 private:
  void plan_network(bool under_way, StepTrace& trace);
  void expect_equal_shares(std::string_view why) const;
  void check_fields(const graph::Plan& plan) const;
  void expect_room(const graph::Plan& plan, const graph::Plan& test_plan) const;
  void plan_evaluation(const graph::Graph& graph, const graph::Graph& whole, const graph::Plan& plan,
                       std::shared_ptr<Block>& arena);
  datasets::Sampler sampler() const;
  bool has_own_order() const { return staged_.own_samples || strategy().traits().all_samples; }
  std::uint64_t own_seed() const;

  Job job_;
  const RunGroups& groups_;
  StepTrace& trace_;
  Batching batching_;
  Circles circles_;
  ReplicaPart part_;
  std::unique_ptr<comm::Comm> judges_;  // those that predict together, where each has a network of its own
  ReplicaPart judged_part_;             // of what is evaluated: as part_, unless the ranks' models are judged together
  PlannedNetwork network_;
  StagedData staged_;
  std::shared_ptr<const datasets::Dataset> train_seen_;  // what this rank reads of it
  std::int64_t batches_per_epoch_ = 0;
  double staging_seconds_ = 0;
  double flops_per_sample_ = 0;
  std::unique_ptr<Viewer> viewer_;  // on rank 0, and those that predict together with it
};

}  // namespace isobar::train
