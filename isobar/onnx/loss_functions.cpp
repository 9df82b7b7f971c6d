// Losses of classification: loss[n,d] = -weight[t] x[n,t,d] with t = target[n,d] and x log-probabilities
// (NegativeLogLikelihoodLoss) or the log-softmax of x (SoftmaxCrossEntropyLoss). The mean is weighted too.
#include <algorithm>
#include <cmath>

#include "isobar/onnx/functions.hpp"

namespace isobar::onnx {
namespace {

Arrays infer_loss(const Call& call) {
  const Dims& x = call[0].dims;
  if (x.size() < 2) fail("{} has no axis of classes", dims_text(x));
  Dims target = x;
  target.erase(target.begin() + 1);
  expect_dims(call, 1, target);
  if (call.has(2)) expect_dims(call, 2, {x[1]});
  const std::string reduction = call.node.text("reduction", "mean");
  if (reduction != "none" && reduction != "sum" && reduction != "mean")
    fail("reduction '{}'; none, sum and mean are valid", reduction);
  return {described(call[0].type, reduction == "none" ? target : Dims{})};
}
Arrays infer_cross_entropy(const Call& call) {
  Arrays out = infer_loss(call);
  out.push_back(described(call[0].type, call[0].dims));
  return out;
}

void reduce_loss(const Call& call, const std::vector<double>& x, Array& loss) {
  const Array& target = call.known(1);
  const std::vector<double>* weights = call.has(2) ? &call.known(2).values : nullptr;
  const bool ignores = call.node.has("ignore_index");
  const std::int64_t ignored = call.node.integer("ignore_index", 0);
  const std::string reduction = call.node.text("reduction", "mean");
  const Around form = around(call[0].dims, 1);
  double sum = 0, weight_sum = 0;
  for (std::int64_t n = 0; n < form.outer; ++n)
    for (std::int64_t i = 0; i < form.inner; ++i) {
      const std::int64_t at = n * form.inner + i, label = whole(target.values[at]);
      double value = 0, weight = 0;
      if (!ignores || label != ignored) {
        if (label < 0 || label >= form.extent) fail("target {} of {} classes", label, form.extent);
        weight = weights ? (*weights)[label] : 1;
        value = -weight * x[(n * form.extent + label) * form.inner + i];
      }
      if (reduction == "none") loss.values[at] = value;
      sum += value;
      weight_sum += weight;
    }
  if (reduction == "sum") loss.values[0] = sum;
  if (reduction == "mean") loss.values[0] = sum / weight_sum;
}

void fill_likelihood(const Call& call, Arrays& out) { reduce_loss(call, call.known(0).values, out[0]); }

void fill_cross_entropy(const Call& call, Arrays& out) {
  const std::vector<double>& x = call.known(0).values;
  std::vector<double>& logarithm = out[1].values;
  const Around form = around(call[0].dims, 1);
  for (std::int64_t n = 0; n < form.outer; ++n)
    for (std::int64_t i = 0; i < form.inner; ++i) {
      const auto at = [&](std::int64_t c) { return (n * form.extent + c) * form.inner + i; };
      if (form.extent == 0) continue;
      double top = x[at(0)], sum = 0;
      for (std::int64_t c = 1; c < form.extent; ++c) top = std::max(top, x[at(c)]);
      for (std::int64_t c = 0; c < form.extent; ++c) sum += std::exp(x[at(c)] - top);
      for (std::int64_t c = 0; c < form.extent; ++c) logarithm[at(c)] = x[at(c)] - top - std::log(sum);
    }
  reduce_loss(call, logarithm, out[0]);
}

}  // namespace

std::span<const Function> loss_functions() {
  static constexpr Function all[] = {
      function<infer_loss, fill_likelihood>("NegativeLogLikelihoodLoss"),
      function<infer_cross_entropy, fill_cross_entropy>("SoftmaxCrossEntropyLoss"),
  };
  return all;
}

}  // namespace isobar::onnx
