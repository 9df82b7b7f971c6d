// Job: everything a training run is made of, as objects; read_job() makes them from a recipe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "isobar/base/spec.hpp"
#include "isobar/feeding/loader.hpp"
#include "isobar/feeding/staging.hpp"
#include "isobar/metrics/metric.hpp"
#include "isobar/optim/batch_ramp.hpp"
#include "isobar/optim/optimizer.hpp"
#include "isobar/optim/rate_schedule.hpp"
#include "isobar/parallel/placement.hpp"
#include "isobar/split/split.hpp"
#include "isobar/train/bad_numbers.hpp"
#include "isobar/train/job_model.hpp"
#include "isobar/train/saving.hpp"
#include "isobar/train/validation.hpp"
#include "isobar/train/waiting.hpp"
#include "isobar/transforms/pipeline.hpp"

namespace isobar::train {

/// What a run writes about itself besides metrics and checkpoints: the section [report] of a recipe.
struct ReportOptions {
  bool page = true;               ///< report.html and run_card.json when it ends
  bool pictures = true;           ///< of what the network does, when it ends
  std::int64_t trace_steps = 24;  ///< traced in detail, spread over the run; 0: none
  std::int64_t trace_mb = 64;     ///< most a rank writes of its trace
  bool tensorboard = true;        ///< event files
  std::int64_t images = 4;        ///< test samples shown in TensorBoard after an evaluation; 0: none
  std::int64_t histograms = 0;    ///< of weights and gradients in TensorBoard, every so many epochs; 0: none
  std::string target{};           ///< a quality to reach, as mae<=0.124, for time to solution; empty: none
  int processor_year = 0;         ///< it was introduced, where the program does not know; 0: not known
  bool mlperf = false;            ///< log lines of MLPerf HPC
  std::string mlperf_organization{}, mlperf_platform{}, mlperf_division{}, mlperf_status{};
};

struct Job {
  Model model;
  std::shared_ptr<const datasets::Dataset> source, test_source;    ///< the sets without transforms
  Spec train_spec, test_spec;                                      ///< what made them
  std::shared_ptr<transforms::Pipeline> pipeline;                  ///< transforms of all sets
  std::shared_ptr<const datasets::Dataset> train_data, test_data;  ///< with transforms; test_data may be null
  Validation validation;                                           ///< the set by which choices are made
  std::unique_ptr<optim::Optimizer> optimizer;
  std::unique_ptr<optim::RateSchedule> rate;
  std::unique_ptr<optim::BatchRamp> ramp;  ///< how many batches a step takes
  std::unique_ptr<split::Split> split;
  std::unique_ptr<parallel::Strategy> strategy;
  bool gradients_in_arena = false;  ///< nobody wants them after the step, or in memory of his own
  std::vector<std::unique_ptr<metrics::Metric>> metrics;
  std::int64_t batch = 1;           ///< samples of a step, all ranks together; 0: batch_per_rank counts
  std::int64_t batch_per_rank = 0;  ///< samples of a step on each replica; 0: batch counts
  std::int64_t micro_batches = 0;   ///< a batch is computed in, all ranks together; 0: one for each replica
  bool deterministic = false;       ///< the same bits on 1, 2, 4, ... ranks; never with a model that is cut
  bool sync_batch_norm = false;     ///< batches are normalised over all ranks
  std::size_t memory_limit = 0;     ///< bytes for weights, gradients, optimizer slots and arena of a rank; 0: any
  bool tuned = true;                ///< what was measured to be fastest on this machine is used
  double clip_norm = 0;             ///< the largest norm of all gradients together; 0: any
  std::int64_t epochs = 1;
  std::int64_t evaluate_every = 1;  ///< epochs; 0: only at the end
  std::int64_t test_every = 0;      ///< the same for the test set, in a run with a validation set
  std::int64_t patience = 0;        ///< evaluations without a better one that end the run; 0: any number
  SaveOptions saving{};             ///< besides at the end and when interrupted
  checkpoint::CheckpointWriter::Write write_checkpoint = checkpoint::write_checkpoint;
  std::uint64_t seed = 1;
  bool shuffle = true;
  feeding::OnBad on_bad = feeding::OnBad::fail;
  BadNumbers numbers{};  ///< what happens when they are not finite
  std::unique_ptr<feeding::Staging> staging;
  int readers = 1, ahead = 2;
  WaitLimits limits{};           ///< of waits between steps: those of the strategy
  std::filesystem::path folder;  ///< where the run is kept
  bool resume = false;           ///< go on from the folder's newest intact checkpoint
  bool overwrite = false;        ///< replace a run that is already in the folder
  std::string launch{};          ///< of the launcher that may start all anew: a run it started before goes on
  ReportOptions report{};
  Spec recipe;              ///< resolved
  std::string placement{};  ///< which cores ranks and threads are bound to, for the report
};

class ReplicaPart;

/// What staging did to the data sets.
struct StagedData {
  std::function<feeding::StagingCounters()> counters;  ///< by name, "train.bytes_read"; all ranks must call
  bool own_samples = false, all_readable = true;       ///< as in feeding::Staged, of the training set
  /// The test set with transforms, of which whole samples can be read; null without one.
  std::shared_ptr<const datasets::Dataset> whole_test_data{};
};

/// Stages all data sets, lets the transforms learn what they need, on rank 0 for all, and puts them back on. What is
/// learned is kept in `learned_file`, which only rank 0 sees. Where models are cut, only this rank's part of samples
/// need be near, and `peers` are those that read the same part, as in feeding::StagingSetting. All ranks must call.
StagedData stage_data(Job& job, const std::filesystem::path& learned_file, comm::Comm& comm, const ReplicaPart& part,
                      const std::vector<int>& peers);

/// How long the ranks of a strategy wait for each other.
WaitLimits limits_of(const parallel::Strategy& strategy);

/// Gives all ranks what the transforms have learned on rank 0. All ranks must call.
void share_learned(transforms::Pipeline& pipeline, comm::Comm& comm);

/// Reads a recipe whose `model` and `loss` made that model; unknown keys are answered with the nearest valid one.
/// `name` gives the default folder; `survey` is for the data sets, as in datasets::make_dataset().
Job read_job(const Spec& recipe, const std::string& name, Model model, datasets::Survey& survey);

}  // namespace isobar::train
