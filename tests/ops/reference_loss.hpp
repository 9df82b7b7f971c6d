// Naive references of the losses, in double precision.
#pragma once

#include <cmath>

#include "tests/ops/reference_base.hpp"

namespace isobar::reference {

/// The mean over rows below context.rows, counted as context.total, of the mean over a row of `term(number)`.
inline Array mean_loss(const Shape& shape, const Context& context, const std::function<double(std::int64_t)>& term) {
  const std::int64_t length = shape.count(1, shape.rank());
  Array y({1});
  for (std::int64_t i = 0; i < context.rows * length; ++i) y[0] += term(i);
  y[0] /= static_cast<double>(length) * context.total;
  return y;
}

/// log q_t of the position that starts at element `first`, q = softmax over `classes` elements.
inline double log_softmax(const Array& x, std::int64_t first, std::int64_t classes, std::int64_t t) {
  double sum = 0;
  for (std::int64_t c = 0; c < classes; ++c) sum += std::exp(x[first + c]);
  return x[first + t] - std::log(sum);
}

/// Sums -weight * term(position, class) as the arguments say.
inline Array class_loss(Args& args, const Inputs& in, const Context& context,
                        const std::function<double(std::int64_t, std::int64_t)>& term) {
  const std::vector<double> weights = args.reals("weights", {});
  const std::string reduction = args.text("reduction", "mean");
  const std::int64_t ignore = args.integer("ignore", -1), positions = in[1].shape.count() / in[1].shape[0];
  double sum = 0, weight_sum = 0, nonzero = 0;
  for (std::int64_t i = 0; i < context.rows * positions; ++i) {
    const auto t = static_cast<std::int64_t>(in[1][i]);
    const double weight = t == ignore ? 0 : weights.empty() ? 1 : weights[static_cast<std::size_t>(t)];
    if (weight == 0) continue;
    sum -= weight * term(i, t);
    weight_sum += weight;
    nonzero += 1;
  }
  const double share = static_cast<double>(context.rows) / context.total;
  Array y({1}, args.real("scale", 1) * sum);
  if (reduction == "mean") y[0] /= static_cast<double>(positions) * context.total;
  if (reduction == "weighted_mean") y[0] *= share / weight_sum;
  if (reduction == "nonzero_mean") y[0] *= share / nonzero;
  return y;
}

inline Array softmax_cross_entropy(Args& args, const Inputs& in, const Context& context) {
  const std::int64_t classes = in[0].shape[-1];
  return class_loss(args, in, context,
                    [&](std::int64_t i, std::int64_t t) { return log_softmax(in[0], i * classes, classes, t); });
}

inline Array nll(Args& args, const Inputs& in, const Context& context) {
  return class_loss(args, in, context, [&](std::int64_t i, std::int64_t t) { return in[0][i * in[0].shape[-1] + t]; });
}

inline Array focal(Args& args, const Inputs& in, const Context& context) {
  const double alpha = args.real("alpha", 1), gamma = args.real("gamma", 2);
  const std::int64_t classes = in[0].shape[-1];
  return class_loss(args, in, context, [&](std::int64_t i, std::int64_t t) {
    const double log_q = log_softmax(in[0], i * classes, classes, t);
    return alpha * std::pow(1 - std::exp(log_q), gamma) * log_q;
  });
}

inline Array smooth_l1(Args& args, const Inputs& in, const Context& context) {
  const double knee = args.real("knee", 1);
  return mean_loss(in[0].shape, context, [&](std::int64_t i) {
    const double d = std::abs(in[0][i] - in[1][i]);
    return d < knee ? d * d / 2 / knee : d - knee / 2;
  });
}

inline Array sigmoid_cross_entropy(Args& args, const Inputs& in, const Context& context) {
  const double weight = args.real("positive_weight", 1);
  Array y = mean_loss(in[0].shape, context, [&](std::int64_t i) {
    const double t = in[1][i], q = 1 / (1 + std::exp(-in[0][i]));
    return t == args.real("ignore", -1) ? 0 : -weight * t * std::log(q) - (1 - t) * std::log(1 - q);
  });
  if (args.text("reduction", "sum_classes") == "sum_classes") y[0] *= static_cast<double>(in[0].shape[-1]);
  return y;
}

inline Array detection_loss(Args& args, const Inputs& in, const Context& context) {
  const bool logits = args.text("variant", "a") == "b";
  const Array &p = in[0], &t = in[1];
  const std::int64_t channels = p.shape[-1], classes = channels - 6, cells = p.shape.count() / p.shape[0] / channels;
  const auto smooth = [](double d) { return std::abs(d) < 1 ? d * d / 2 : std::abs(d) - 0.5; };
  Array y({1});
  for (std::int64_t n = 0; n < context.rows; ++n) {
    double objects = 0, place = 0, size = 0, object = 0, empty = 0, label = 0;
    for (std::int64_t i = n * cells; i < (n + 1) * cells; ++i) {
      const std::int64_t at = i * channels;
      if (t[at + 4] <= 0) {
        empty -= logits ? log_softmax(p, at + 4, 2, 1) : std::log(p[at + 5] + 1e-5);
        continue;
      }
      ++objects;
      object -= logits ? log_softmax(p, at + 4, 2, 0) : std::log(p[at + 4] + 1e-5);
      place += smooth(p[at] - t[at]) + smooth(p[at + 1] - t[at + 1]);
      size += smooth(p[at + 2] - t[at + 2]) + smooth(p[at + 3] - t[at + 3]);
      for (std::int64_t c = 0; c < classes; ++c)
        label -= t[at + 6 + c] * (logits ? log_softmax(p, at + 6, classes, c) : std::log(p[at + 6 + c] + 1e-5));
    }
    if (!logits) y[0] += 5 * place + 7 * size + object + 0.5 * empty + label;
    if (logits && objects > 0) y[0] += (place + size + label) / objects + (object + empty) / static_cast<double>(cells);
  }
  y[0] /= context.total;
  return y;
}

inline References loss_references() {
  return {
      {"detection_loss", detection_loss},
      {"focal", focal},
      {"nll", nll},
      {"sigmoid_cross_entropy", sigmoid_cross_entropy},
      {"smooth_l1", smooth_l1},
      {"softmax_cross_entropy", softmax_cross_entropy},
  };
}

}  // namespace isobar::reference
