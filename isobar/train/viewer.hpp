// Viewer: predictions for single samples, for pictures: for samples of the test set, and for inputs made by the caller.
// It borrows the executor of evaluations and so must not be used while one runs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "isobar/datasets/dataset.hpp"
#include "isobar/exec/executor.hpp"

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
  /// Takes an inference plan with the output "prediction", and a data set that has the plan's inputs as fields.
  Viewer(exec::Executor& executor, const datasets::Dataset& dataset) : executor_(executor), dataset_(dataset) {}

  const datasets::Dataset& dataset() const { return dataset_; }
  const graph::Plan& plan() const { return executor_.plan(); }
  /// Reads sample i of the set and predicts it.
  View look(std::int64_t sample);
  /// The prediction for one sample with these inputs; missing inputs are zero.
  Values predict(const std::map<std::string, Values>& inputs);

 private:
  exec::Executor& executor_;
  const datasets::Dataset& dataset_;
  std::map<std::string, std::vector<float>> bound_{};
};

}  // namespace isobar::train
