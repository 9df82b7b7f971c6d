// ReplicaPart: what this rank has of a model that is cut over the ranks of its replica, and what these ranks must do
// together besides the messages of the network: leave out the same samples, and put predictions together. So must
// ranks that each have a whole network and predict together. Where a rank predicts alone, none of this sends anything.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "isobar/comm/comm.hpp"
#include "isobar/datasets/dataset.hpp"
#include "isobar/split/split.hpp"
#include "isobar/train/waiting.hpp"

namespace isobar::train {

class ReplicaPart {
 public:
  /// A whole model.
  ReplicaPart() = default;
  /// A part of `whole`; all ranks of `replica` must call, which must outlive this; null: it is the whole.
  ReplicaPart(const split::ModelPart& part, const graph::Graph& whole, comm::Comm* replica);

  /// A whole network on each of these ranks, which predict together; `ranks` must outlive this.
  static ReplicaPart together(const graph::Graph& whole, comm::Comm& ranks);

  /// Whether no other rank has a part of this model.
  bool alone() const { return !ranks_; }
  int ways() const { return ranks_ ? ranks_->size() : 1; }
  /// Whether this rank counts for its replica: it is the one that judges predictions.
  bool is_first() const { return !ranks_ || ranks_->rank() == 0; }
  /// As split::ModelPart has it.
  double loss_share() const { return loss_share_; }
  /// For people: "whole", "depth 0-63 of 128".
  const std::string& text() const { return text_; }
  comm::Comm& ranks() const { return *ranks_; }

  /// The fields of a sample that the whole network takes. Empty, like the shape, for a part made without a network.
  const std::vector<datasets::Field>& inputs() const { return inputs_; }
  /// Of a whole prediction.
  const Shape& prediction() const { return prediction_; }
  /// What a rank of the replica takes of that input.
  Box box_of(const datasets::Field& input, int rank) const;

  /// What this rank reads of samples with these fields; the first rank can have whole targets, to judge with.
  datasets::Region region(const std::vector<datasets::Field>& fields, bool whole_targets = false) const;
  /// A data set as this rank reads it.
  std::shared_ptr<const datasets::Dataset> seen(std::shared_ptr<const datasets::Dataset> whole,
                                                bool whole_targets = false) const;

  /// For feeding::LoaderOptions: what any rank of the replica finds wrong with a sample, all of them learn. Empty where
  /// nothing is cut. The loaders of all ranks of the replica must call it, for the same rows.
  std::function<void(std::span<std::string> bad)> agreement(const WaitLimits& limits) const;
  /// The predictions for so many whole samples on the first rank, valid until the next call; nothing on the others. All
  /// ranks of the replica must call.
  std::span<const float> whole_predictions(std::span<const float> mine, std::int64_t rows) const;
  /// Passes the predictions of all ranks that predict together to `take`, in their order, on the first of them. All
  /// must call.
  void each_prediction(std::span<const float> mine, const std::function<void(std::span<const float>)>& take) const;
  /// The sum over all ranks of the replica, on each of them. All of them must call.
  double sum(double mine) const;

 private:
  /// The boxes of one rank, by name.
  struct Boxes {
    std::map<std::string, Box> inputs{}, outputs{};
  };
  void exchange_boxes(const Boxes& mine);
  void agree_on_bad(std::span<std::string> bad, const WaitLimits& limits) const;

  comm::Comm* ranks_ = nullptr;
  double loss_share_ = 1;
  std::string text_ = "whole";
  std::vector<datasets::Field> inputs_;
  Shape prediction_{};
  std::vector<Boxes> boxes_;  // of all ranks of the replica
  mutable std::vector<float> predictions_;
};

}  // namespace isobar::train
