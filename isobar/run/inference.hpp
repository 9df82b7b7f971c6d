// Inference: a trained network applied to a data set, on any number of ranks: evaluated, or predicted sample by sample.
// On as many ranks as the run had it gives the bits of the run's own evaluation: same batches, same kernels.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "isobar/run/trained.hpp"
#include "isobar/train/evaluation.hpp"
#include "isobar/train/feeds.hpp"

namespace isobar::run {

struct InferenceOptions {
  std::shared_ptr<const datasets::Dataset> data{};    ///< without transforms; null: the test set of the run
  std::string data_name{};                            ///< as the user called it
  std::int64_t first = 0, last = -1;                  ///< the samples of it; -1: to its end
  std::optional<std::vector<std::string>> metrics{};  ///< none: those of the run, or those that suit the loss
  std::int64_t rows = 0;                              ///< samples computed at a time on a rank; 0: as in the run
  bool evaluates = false;                             ///< compares with targets, which then must be there
  bool shows = false;  ///< single samples will be looked at: with their loss, where there are targets
};

/// Predictions of some samples, row by row.
struct PredictedRows {
  std::span<const std::int64_t> samples;          ///< rising
  std::span<const float> predictions, targets{};  ///< no targets where the samples have none
};

class Inference {
 public:
  /// Plans the network, reads the weights on rank 0 for all, opens the data and checks that they fit each other. All
  /// ranks of `comm` must call; it must outlive this.
  Inference(Trained trained, const InferenceOptions& options, comm::Comm& comm);

  const Trained& trained() const { return trained_; }
  /// The samples with the run's transforms.
  const std::shared_ptr<const datasets::Dataset>& data() const { return job_.test_data; }
  const std::string& data_name() const { return data_name_; }
  exec::Executor& executor() { return *executor_; }
  const train::WaitLimits& limits() const { return job_.limits; }
  std::int64_t rows() const { return executor_->plan().inputs.at(0).shape[0]; }

  /// Of one sample; the targets as the data set has them, if it has.
  Shape prediction_shape() const { return train::sample_shape(executor_->plan().output_shapes.at("prediction")); }
  std::optional<Shape> target_shape() const;
  writing::Meaning meaning() const;
  /// Names of quantities or classes; may be empty. Known on rank 0 only.
  const std::vector<std::string>& names() const { return job_.model.target_names; }

  /// Loss, where there is one, and metrics over all samples. All ranks must call.
  train::Evaluated evaluate(const std::atomic<bool>* stop);
  /// Gives rank 0 the predictions of all samples in their order, a batch at a time; bad samples are left out where the
  /// run allows that. False when `stop` was set on some rank before the end. All ranks must call.
  bool predict(const std::function<void(const PredictedRows&)>& take, const std::atomic<bool>* stop);

 private:
  void open_data(const InferenceOptions& options);
  void read_settings();
  void choose_metrics(const InferenceOptions& options);
  std::shared_ptr<const datasets::Dataset> with_transforms(std::shared_ptr<const datasets::Dataset> source) const;
  void name_classes(bool other_data);
  graph::Plan plan_for(const InferenceOptions& options) const;
  std::int64_t rows_for(const InferenceOptions& options) const;
  void fill_weights();
  void give(const feeding::Batch& batch, const std::function<void(const PredictedRows&)>& take) const;

  Trained trained_;
  comm::Comm& comm_;
  std::string data_name_;
  std::vector<std::string> transforms_;
  train::Job job_;  // what an evaluation needs of one
  std::unique_ptr<exec::ParamStore> store_;
  std::unique_ptr<exec::Executor> executor_;
};

}  // namespace isobar::run
