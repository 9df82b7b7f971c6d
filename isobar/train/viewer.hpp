// Viewer: what the network makes of single samples, for pictures: of samples of the test set, and of inputs made up by
// the caller. It borrows the executor of evaluations and so must not be used while one runs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "isobar/datasets/dataset.hpp"
#include "isobar/exec/executor.hpp"

namespace isobar::train {

/// Numbers with their shape, without the axis of the batch.
struct Values {
  Shape shape{};
  std::vector<float> numbers{};
};

/// One sample: its fields as the network takes them, transforms applied, and what is predicted for it.
struct View {
  std::int64_t sample = 0;
  std::map<std::string, Values> fields{};
  Values prediction{};
  double loss = 0;
};

class Viewer {
 public:
  /// An inference plan with the output "prediction", and the set it is shown on, which must have its inputs as fields.
  Viewer(exec::Executor& executor, const datasets::Dataset& dataset) : executor_(executor), dataset_(dataset) {}

  const datasets::Dataset& dataset() const { return dataset_; }
  const graph::Plan& plan() const { return executor_.plan(); }
  /// Reads sample i of the set and predicts it.
  View look(std::int64_t sample);
  /// The prediction for one sample of other inputs; those that are not given are zero.
  Values predict(const std::map<std::string, Values>& inputs);

 private:
  exec::Executor& executor_;
  const datasets::Dataset& dataset_;
  std::map<std::string, std::vector<float>> bound_{};
};

}  // namespace isobar::train
