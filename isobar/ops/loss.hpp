// Losses: a prediction against a target, averaged over the samples of the batch that are not padding.
//   y = 1/total * sum over rows n < moment.rows of l(n);  l(n) is the mean over the numbers (or positions) of row n
// total counts the samples of all ranks, so losses and gradients can be summed over ranks.
#pragma once

#include <algorithm>

#include "isobar/base/error.hpp"
#include "isobar/base/loops.hpp"
#include "isobar/ops/op.hpp"
#include "isobar/ops/primitive.hpp"

namespace isobar::ops {

/// A loss of two inputs, prediction and target; only the prediction has a gradient.
class Loss : public Operator {
 public:
  int arity() const override { return 2; }
  bool is_loss() const override { return true; }
};

/// Parts of a loss read prediction and target at their own positions and are added up.
inline Reach summed_reach(int axis, std::span<const Shape> in) {
  Reach reach = same_elements(axis, in, 2);
  reach.summed = true;
  return reach;
}

/// log of the sum of exp(x_c), without overflow.
double log_sum_exp(const float* x, std::int64_t classes);

}  // namespace isobar::ops
