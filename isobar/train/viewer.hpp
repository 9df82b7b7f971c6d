// Viewer: predictions for single samples, for pictures: for samples of the test set, and for inputs made by the caller.
// It borrows the predictor of evaluations and so must not be used while one runs. Where several ranks predict together,
// the first of them views, and the others compute their parts of what it views.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "isobar/datasets/dataset.hpp"
#include "isobar/train/predictor.hpp"

namespace isobar::train {

/// Numbers with their shape, without the batch axis.
struct Values {
  Shape shape{};
  std::vector<float> numbers{};
};

/// One sample: its fields as the network takes them, with transforms applied, and its prediction.
struct View {
  std::int64_t sample = 0;
  std::map<std::string, Values> fields{};
  Values prediction{};
  double loss = 0;
};

class Viewer {
 public:
  /// Takes a data set that has the plan's inputs as fields, of whole samples; both must outlive the viewer. All ranks
  /// that predict together must make one.
  Viewer(Predictor& predictor, const datasets::Dataset& dataset);

  const datasets::Dataset& dataset() const { return dataset_; }
  /// Of a whole prediction.
  const Shape& prediction_shape() const { return predictor_.prediction_shape(); }

  /// Reads sample i of the set and predicts it. On the first rank, like predict().
  View look(std::int64_t sample);
  /// The prediction for one sample with these inputs; missing inputs are zero.
  Values predict(const std::map<std::string, Values>& inputs);

  /// On the first rank: nothing more will be viewed for now; the others return from attend().
  void release();
  /// On the other ranks: takes part in all that the first rank views until it calls release().
  void attend();

 private:
  void check(const std::map<std::string, Values>& inputs) const;
  void deal_out(const std::map<std::string, Values>& inputs);
  void take_inputs();
  std::span<float> row_of(const datasets::Field& input);
  Values compute();

  Predictor& predictor_;
  const datasets::Dataset& dataset_;
  const ReplicaPart& part_;
  std::vector<datasets::Field> inputs_;  // of a whole sample
  std::map<std::string, std::vector<float>> bound_{};
  double loss_ = 0;  // of the last prediction
};

}  // namespace isobar::train
