// Predictor: the model that is judged, as evaluations, viewers and predictions use it: one network, a part of one that
// is cut over several ranks, or several networks whose predictions are averaged, all on this rank or one on each.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "isobar/exec/executor.hpp"
#include "isobar/train/job_model.hpp"
#include "isobar/train/prediction_mean.hpp"
#include "isobar/train/replica_part.hpp"

namespace isobar::train {

class Predictor {
 public:
  /// One network, by an inference plan with the output "prediction"; with a part of a model, all ranks of its replica
  /// must make one, and call forward() alike. All must outlive this.
  explicit Predictor(exec::Executor& network);
  Predictor(exec::Executor& network, const ReplicaPart& part);
  /// Several networks of this model, by the same plan: all on this rank or, where the model is on several ranks, one on
  /// each of these. The loss, if the plan has one, is that of the mean prediction.
  Predictor(std::vector<exec::Executor*> networks, const ReplicaPart& part, const Model& model);
  ~Predictor();
  Predictor(const Predictor&) = delete;

  const graph::Plan& plan() const { return networks_.front()->plan(); }
  /// Which ranks predict together; the first of them has what they predict.
  const ReplicaPart& part() const { return part_; }
  /// Of one sample, whole.
  const Shape& prediction_shape() const { return prediction_shape_; }
  bool with_loss() const { return plan().outputs.contains("loss"); }

  /// Sets the memory of an input, which is read during the next forward().
  void bind(const std::string& input, std::span<const float> numbers);
  /// Predicts the rows that the run counts.
  void forward(const exec::Run& run);
  /// Of these rows, on the first rank, valid until the next forward(); nothing on the others.
  std::span<const float> prediction() const { return prediction_; }
  /// This rank's part of their mean loss; 0 without one.
  double loss() const { return loss_; }

 private:
  /// The loss as a network of its own, which takes predictions.
  struct LossAlone;

  void average(const exec::Run& run, std::size_t count);

  std::vector<exec::Executor*> networks_;
  const ReplicaPart& part_;
  Shape prediction_shape_;
  std::unique_ptr<PredictionMean> mean_;     // null: there is one network
  std::unique_ptr<LossAlone> loss_of_mean_;  // where there is a loss
  std::span<const float> prediction_{};
  double loss_ = 0;
};

}  // namespace isobar::train
