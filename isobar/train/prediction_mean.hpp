// PredictionMean: the mean of what several networks predict. Scores of classes or labels are averaged as probabilities,
// and the mean is given back as scores again, so that whatever takes the scores of one network takes the mean too.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isobar/tensor/squash.hpp"

namespace isobar::train {

class PredictionMean {
 public:
  /// With softmax, so many numbers that follow each other are the scores of one choice of classes.
  PredictionMean(Squash squash, std::int64_t classes);

  /// Begins a new mean.
  void begin();
  /// What one network predicts; all of them predict as many numbers.
  void add(std::span<const float> scores);
  /// The mean of all since begin(), of one at least, valid until the next call: of classes, logarithms of mean
  /// probabilities; of labels, numbers whose sigmoid is the mean probability; otherwise mean numbers.
  std::span<const float> scores();

 private:
  Squash squash_;
  std::size_t classes_;
  int count_ = 0;
  std::vector<double> sum_;    // of numbers; of probabilities their logarithm
  std::vector<double> other_;  // of labels, that of the probabilities that they do not apply
  std::vector<float> scores_;
};

}  // namespace isobar::train
