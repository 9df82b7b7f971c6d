// ConfusionMatrix: how often each class was predicted as each other.
#pragma once

#include <span>
#include <vector>

#include "isobar/metrics/class_targets.hpp"

namespace isobar::metrics {

class ConfusionMatrix {
 public:
  explicit ConfusionMatrix(std::int64_t classes = 0)
      : classes_(static_cast<std::size_t>(classes)), counts_(classes_ * classes_) {}

  void count(std::size_t truth, std::size_t predicted) { ++counts_[truth * classes_ + predicted]; }

  /// All counts, row by row.
  std::vector<double> state() const { return {counts_.begin(), counts_.end()}; }
  void merge(std::span<const double> state) {
    expects(state.size() == counts_.size(), "the counts of as many classes");
    for (std::size_t i = 0; i < state.size(); ++i) counts_[i] += static_cast<std::int64_t>(state[i]);
  }

  std::size_t classes() const { return classes_; }
  std::int64_t at(std::size_t truth, std::size_t predicted) const { return counts_[truth * classes_ + predicted]; }
  /// Positions that have the class in truth, in prediction, or in both.
  std::int64_t either(std::size_t c) const {
    std::int64_t sum = -at(c, c);
    for (std::size_t other = 0; other < classes_; ++other) sum += at(c, other) + at(other, c);
    return sum;
  }
  /// Intersection over union of a class that occurs.
  double overlap(std::size_t c) const { return static_cast<double>(at(c, c)) / static_cast<double>(either(c)); }

 private:
  std::size_t classes_;
  std::vector<std::int64_t> counts_;
};

inline constexpr std::int64_t max_confusion_classes = 4096;

/// The matrix for a metric's classes; more than max_confusion_classes are an Error.
inline ConfusionMatrix confusion_of(std::string_view metric, const ClassTargets& targets) {
  if (targets.classes() > max_confusion_classes)
    fail_usage("metric '{}': {} classes are too many for a matrix; valid: up to {}", metric, targets.classes(),
               max_confusion_classes);
  return ConfusionMatrix(targets.classes());
}

}  // namespace isobar::metrics
