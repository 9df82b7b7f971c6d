// Subject: what pictures are drawn of, seen by all kinds of them: what the network is for, told from loss and shapes,
// and samples with their predictions. Predictions that were kept cost nothing; others are forward passes, which are
// counted.
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
  maps,        ///< one of several classes for every place of a picture or volume
  tokens,      ///< the next token at every place of a text
  boxes,       ///< boxes on a grid, as detection_loss has them
};

class Subject {
 public:
  explicit Subject(const PictureRequest& request);

  Task task() const { return task_; }
  const PictureRequest& request() const { return request_; }
  /// Null when nothing is known but predictions.
  const datasets::Dataset* dataset() const { return request_.viewer ? &request_.viewer->dataset() : nullptr; }
  /// The field pictures show; empty when there is no data set.
  const std::string& input_name() const { return x_name_; }
  /// Of one sample; empty when not known.
  const Shape& input_shape() const { return x_; }
  const Shape& target_shape() const { return y_; }
  const Shape& prediction_shape() const { return prediction_; }
  /// Classes that are told apart; 0 when there are none.
  std::int64_t classes() const;
  std::string class_name(std::int64_t number) const;

  /// Rows of predictions that were kept with their targets.
  std::int64_t rows() const { return rows_; }
  std::span<const float> prediction(std::int64_t row) const;
  std::span<const float> target(std::int64_t row) const;
  /// Whether row i of what was kept is sample i of the data set, and no sample is missing.
  bool all_kept() const;

  std::int64_t samples() const { return dataset() ? dataset()->size() : 0; }
  /// A sample, its fields and its prediction; nothing when that takes a forward pass and there were enough.
  std::optional<train::View> view(std::int64_t sample);
  /// The prediction for made-up inputs of the first field; costs a pass, whether or not there were enough.
  train::Values predict(const train::Values& x);
  bool may_pass() const;
  /// Samples worth a look: all that were kept, otherwise as many as there are passes, spread evenly over the set, or
  /// its first ones when they follow each other in time.
  std::vector<std::int64_t> choice(std::int64_t most, bool first_ones) const;

  std::shared_ptr<const MapSurvey> maps{};  ///< what kinds that draw maps have seen, once for all of them

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

/// Probabilities of the classes: softmax of the numbers, or the numbers themselves where they are probabilities
/// already.
std::vector<double> probabilities(std::span<const float> numbers);

/// The class of every place, by its largest number.
std::vector<std::uint16_t> largest(std::span<const float> prediction, std::int64_t classes);

}  // namespace isobar::pictures
