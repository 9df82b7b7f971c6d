// Inference: a trained network applied to a data set, on any number of ranks: evaluated, or predicted sample by sample.
// On as many ranks as the run had, it reproduces the run's own evaluation to the bit: same batches, same kernels. Where
// the models of the run's ranks stay apart, every rank has all of them, and one rank reproduces that evaluation.
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
  std::string data_name{};                            ///< as the user named it
  std::int64_t first = 0, last = -1;                  ///< the range of samples; -1: to the end
  std::optional<std::vector<std::string>> metrics{};  ///< nothing: those of the run, or those that suit the loss
  std::int64_t rows = 0;                              ///< samples computed at a time on a rank; 0: as in the run
  bool evaluates = false;                             ///< compares with targets, which must then exist
  bool shows = false;  ///< single samples will be viewed, with their loss if there are targets
};

/// Predictions of some samples, row by row.
struct PredictedRows {
  std::span<const std::int64_t> samples;          ///< in ascending order
  std::span<const float> predictions, targets{};  ///< no targets if the samples have none
};

class Inference {
 public:
  /// Plans the network, reads the weights on rank 0 for all, opens the data and checks that they fit each other. All
  /// ranks of `comm` must call; `comm` must outlive this object.
  Inference(Trained trained, const InferenceOptions& options, comm::Comm& comm);

  const Trained& trained() const { return trained_; }
  /// The samples with the run's transforms.
  const std::shared_ptr<const datasets::Dataset>& data() const { return job_.test_data; }
  const std::string& data_name() const { return data_name_; }
  train::Predictor& predictor() { return *predictor_; }
  /// Networks whose predictions are averaged; 1 for a single one.
  int networks() const { return static_cast<int>(stores_.size()); }
  const train::WaitLimits& limits() const { return job_.limits; }
  std::int64_t rows() const { return predictor_->plan().rows; }

  /// Shapes of one sample; targets as in the data set, if it has any.
  const Shape& prediction_shape() const { return predictor_->prediction_shape(); }
  std::optional<Shape> target_shape() const;
  writing::Meaning meaning() const;
  /// Names of quantities or classes; may be empty. Only known on rank 0.
  const std::vector<std::string>& names() const { return job_.model.target_names; }

  /// Loss, where there is one, and metrics over all samples. All ranks must call.
  train::Evaluated evaluate(const std::atomic<bool>* stop);
  /// Passes the predictions of all samples, in order, to `take` on rank 0, a batch at a time; bad samples are left out
  /// if the run allows it. False if `stop` was set on some rank before the end. All ranks must call.
  bool predict(const std::function<void(const PredictedRows&)>& take, const std::atomic<bool>* stop);

 private:
  void open_data(const InferenceOptions& options);
  void read_settings();
  void choose_metrics(const InferenceOptions& options);
  std::shared_ptr<const datasets::Dataset> with_transforms(std::shared_ptr<const datasets::Dataset> source) const;
  void name_classes(bool other_data);
  graph::Plan plan_for(const InferenceOptions& options) const;
  std::int64_t rows_for(const InferenceOptions& options) const;
  void make_networks(graph::Plan plan);
  std::vector<checkpoint::Snapshot> read_weights() const;
  void give(const feeding::Batch& batch, const std::function<void(const PredictedRows&)>& take) const;

  Trained trained_;
  comm::Comm& comm_;
  std::string data_name_;
  std::vector<std::string> transforms_;
  train::Job job_;                    // the parts that an evaluation needs
  const train::ReplicaPart whole_{};  // of the network: nothing is cut here
  bool members_apart_ = false;        // the models of the run's ranks
  std::vector<std::unique_ptr<exec::ParamStore>> stores_;
  std::vector<std::unique_ptr<exec::Executor>> executors_;
  std::unique_ptr<train::Predictor> predictor_;
};

}  // namespace isobar::run
