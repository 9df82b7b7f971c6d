// ClassTargets: predictions [..., classes] and targets that are class numbers, one per position, for metrics of
// classification and segmentation. Positions with a negative target do not count.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

#include "isobar/base/error.hpp"
#include "isobar/tensor/shape.hpp"

namespace isobar::metrics {

class ClassTargets {
 public:
  ClassTargets() = default;
  /// Throws Error in the name of `metric` unless a sample's shapes are those of classes and their numbers.
  ClassTargets(std::string_view metric, const Shape& prediction, const Shape& target)
      : positions_(target.count()), classes_(prediction.rank() > 0 ? prediction[-1] : 1) {
    if (classes_ < 2 || prediction.count() != positions_ * classes_)
      fail_usage("metric '{}': predictions are {}, targets {}; needed: [..., classes] beside one class number for each",
                 metric, prediction.str(), target.str());
  }

  std::int64_t positions() const { return positions_; }
  std::int64_t classes() const { return classes_; }

  /// Calls visit(logits of the position, class) for every position that counts.
  template <class F>
  void each(std::span<const float> prediction, std::span<const float> target, const F& visit) const {
    expects(prediction.size() == target.size() * static_cast<std::size_t>(classes_), "one prediction per target");
    for (std::size_t i = 0; i < target.size(); ++i) {
      const float t = target[i];
      if (t < 0) continue;
      if (!(t < static_cast<float>(classes_)) || t != std::floor(t))
        fail("target {} is no class; valid: whole numbers from 0 to {}", t, classes_ - 1);
      visit(prediction.subspan(i * static_cast<std::size_t>(classes_), static_cast<std::size_t>(classes_)),
            static_cast<std::size_t>(t));
    }
  }

 private:
  std::int64_t positions_ = 1, classes_ = 2;
};

/// The class with the largest logit; the first if several are equal.
inline std::size_t predicted_class(std::span<const float> logits) {
  return static_cast<std::size_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

}  // namespace isobar::metrics
