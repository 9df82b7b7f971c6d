// Subject: what all kinds of pictures are drawn from: the task of the network, inferred from loss and shapes, and
// samples with their predictions. Predictions that were kept are free; others need forward passes, which are counted.
#pragma once

#include <optional>

#include "isobar/pictures/pictures.hpp"

namespace isobar::pictures {

struct MapSurvey;

/// What a network is for.
enum class Task {
  other,
  regression,  ///< a few numbers
  classes,     ///< one of several classes for a sample
  maps,        ///< one of several classes for every point of a picture or volume
  tokens,      ///< the next token at every position of a text
  boxes,       ///< boxes on a grid, in the format of detection_loss
};

class Subject {
 public:
  explicit Subject(const PictureRequest& request);

  Task task() const { return task_; }
  const PictureRequest& request() const { return request_; }
  /// Null when only predictions are known.
  const datasets::Dataset* dataset() const { return request_.viewer ? &request_.viewer->dataset() : nullptr; }
  /// The field that pictures show; empty without a data set.
  const std::string& input_name() const { return x_name_; }
  /// Shapes of one sample; empty when unknown.
  const Shape& input_shape() const { return x_; }
  const Shape& target_shape() const { return y_; }
  const Shape& prediction_shape() const { return prediction_; }
  /// The number of classes that the network distinguishes; 0 when there are none.
  std::int64_t classes() const;
  std::string class_name(std::int64_t number) const;

  /// The number of predictions that were kept with their targets.
  std::int64_t rows() const { return rows_; }
  std::span<const float> prediction(std::int64_t row) const;
  std::span<const float> target(std::int64_t row) const;
  /// Whether every sample was kept and row i is sample i of the data set.
  bool all_kept() const;

  std::int64_t samples() const { return dataset() ? dataset()->size() : 0; }
  /// A sample, its fields and its prediction; nothing when it would need a forward pass and the limit is reached.
  std::optional<train::View> view(std::int64_t sample);
  /// The prediction for made-up values of the first field; costs a pass, even beyond the limit.
  train::Values predict(const train::Values& x);
  bool may_pass() const;
  /// The samples to look at: all that were kept, otherwise as many as passes are left, spread evenly over the set or,
  /// with `first_ones`, its first.
  std::vector<std::int64_t> choice(std::int64_t most, bool first_ones) const;

  std::shared_ptr<const MapSurvey> maps{};  ///< shared by all kinds that draw maps

 private:
  Task find_task() const;
  bool follows_tokens() const;

  const PictureRequest& request_;
  Shape x_, y_, prediction_;
  std::string x_name_;
  std::int64_t rows_ = 0, passes_ = 0;
  double begin_;
  Task task_ = Task::other;
};

/// Probabilities of the classes: softmax of the numbers, or the numbers themselves if they are already probabilities.
std::vector<double> probabilities(std::span<const float> numbers);

/// The class with the largest number at every point.
std::vector<std::uint16_t> largest(std::span<const float> prediction, std::int64_t classes);

}  // namespace isobar::pictures
