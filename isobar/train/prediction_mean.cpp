#include "isobar/train/prediction_mean.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "isobar/base/error.hpp"

namespace isobar::train {
namespace {

constexpr double nothing = -std::numeric_limits<double>::infinity();

// log(exp(a) + exp(b)). In logarithms, probabilities that are very small do not become zero.
double log_of_sum(double a, double b) {
  if (a == nothing) return b;
  if (b == nothing) return a;
  return std::max(a, b) + std::log1p(std::exp(-std::abs(a - b)));
}

double log_of_sum(std::span<const float> scores) {
  const double largest = *std::ranges::max_element(scores);
  double sum = 0;
  for (const float score : scores) sum += std::exp(score - largest);
  return largest + std::log(sum);
}

double log_sigmoid(double score) { return -log_of_sum(0, -score); }

}  // namespace

PredictionMean::PredictionMean(Squash squash, std::int64_t classes)
    : squash_(squash), classes_(static_cast<std::size_t>(classes)) {
  expects(classes > 0, "a choice of classes");
}

void PredictionMean::begin() { count_ = 0; }

void PredictionMean::add(std::span<const float> scores) {
  if (count_++ == 0) {
    const double none = squash_ == Squash::none ? 0 : nothing;
    sum_.assign(scores.size(), none);
    other_.assign(squash_ == Squash::sigmoid ? scores.size() : 0, none);
  }
  expects(scores.size() == sum_.size(), "predictions of one size");
  switch (squash_) {
    case Squash::none:
      for (std::size_t i = 0; i < scores.size(); ++i) sum_[i] += scores[i];
      break;
    case Squash::softmax:
      for (std::size_t at = 0; at < scores.size(); at += classes_) {
        const double all = log_of_sum(scores.subspan(at, classes_));
        for (std::size_t i = at; i < at + classes_; ++i) sum_[i] = log_of_sum(sum_[i], scores[i] - all);
      }
      break;
    case Squash::exponential:
      for (std::size_t i = 0; i < scores.size(); ++i) sum_[i] = log_of_sum(sum_[i], scores[i]);
      break;
    case Squash::sigmoid:
      for (std::size_t i = 0; i < scores.size(); ++i) {
        sum_[i] = log_of_sum(sum_[i], log_sigmoid(scores[i]));
        other_[i] = log_of_sum(other_[i], log_sigmoid(-static_cast<double>(scores[i])));
      }
      break;
  }
}

std::span<const float> PredictionMean::scores() {
  expects(count_ > 0, "the prediction of one network at least");
  scores_.resize(sum_.size());
  for (std::size_t i = 0; i < sum_.size(); ++i) {
    const double mean = squash_ == Squash::none      ? sum_[i] / count_
                        : squash_ == Squash::sigmoid ? sum_[i] - other_[i]
                                                     : sum_[i] - std::log(count_);
    scores_[i] = static_cast<float>(mean);
  }
  return scores_;
}

}  // namespace isobar::train
