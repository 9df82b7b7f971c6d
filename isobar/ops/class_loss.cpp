#include "isobar/ops/class_loss.hpp"

namespace isobar::ops {

ClassWeights::ClassWeights(Args& args)
    : reduction_(args.one_of("reduction", "mean", {"mean", "sum", "weighted_mean", "nonzero_mean"})),
      scale_(args.real("scale", 1)),
      ignore_(static_cast<float>(args.integer("ignore", -1))) {
  for (const double w : args.reals("weights", {})) weights_.push_back(static_cast<float>(w));
  args.require(std::all_of(weights_.begin(), weights_.end(), [](float w) { return w >= 0; }),
               "weights must not be negative");
}

void ClassWeights::check(const Shape& x) const {
  if (!weights_.empty() && std::ssize(weights_) != x[-1])
    fail("weights has {} numbers, prediction = {} has {} classes", weights_.size(), x.str(), x[-1]);
}

void ClassWeights::check(const float* target, std::int64_t valid, std::int64_t positions, std::int64_t classes) const {
  const auto wrong = [&](float t) {
    return !ignored(t) && !(t >= 0 && t < static_cast<float>(classes) && t == std::floor(t));
  };
  const std::int64_t at = std::find_if(target, target + valid, wrong) - target;
  if (at < valid)
    fail("target {} of row {}, position {} is no class; valid: whole numbers from 0 to {} ({} classes)", target[at],
         at / positions, at % positions, classes - 1, classes);
}

double ClassWeights::factor(const float* target, std::int64_t valid, std::int64_t positions,
                            const Moment& moment) const {
  if (reduction_ == "sum") return scale_;
  if (reduction_ == "mean") return scale_ / (static_cast<double>(positions) * moment.total);
  const bool counts = reduction_ == "nonzero_mean";
  const double sum = ordered_sum(valid, [&](std::int64_t begin, std::int64_t end) {
    double part = 0;
    for (std::int64_t i = begin; i < end; ++i) part += counts ? of(target[i]) != 0 : of(target[i]);
    return part;
  });
  return sum == 0 ? 0 : scale_ / sum * static_cast<double>(moment.rows) / moment.total;
}

double log_sum_exp(const float* x, std::int64_t classes) {
  const float largest = *std::max_element(x, x + classes);
  double sum = 0;
  for (std::int64_t c = 0; c < classes; ++c) sum += std::exp(x[c] - largest);
  return largest + std::log(sum);
}

void check_class_shapes(const Shape& x, const Shape& target) {
  if (x.rank() < 2) fail("prediction = {} must be [batch, ..., classes]", x.str());
  Shape single = x;
  single[-1] = 1;
  const Shape bare({x.extents().begin(), x.extents().end() - 1});
  if (target != bare && target != single)
    fail("prediction = {} needs one target per position, {}, not {}", x.str(), bare.str(), target.str());
}

}  // namespace isobar::ops
