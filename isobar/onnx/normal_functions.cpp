// Normalizations: y = scale (x - mean) / sqrt(variance + epsilon) + shift, over batch and space (BatchNormalization),
// space (InstanceNormalization), trailing axes (LayerNormalization) or given ones; LRN over neighbouring channels.
#include <algorithm>
#include <cmath>

#include "isobar/onnx/functions.hpp"

namespace isobar::onnx {
namespace {

struct Moments {
  std::vector<double> mean, variance;
};
/// Mean and variance of x, which is not empty, over the axes where `kept` is 1; strides map an element to its entry.
Moments moments(const Array& x, const Dims& kept, const Dims& strides) {
  const std::int64_t groups = product(kept);
  Moments result{std::vector<double>(groups), std::vector<double>(groups)};
  const double count = static_cast<double>(x.values.size()) / groups;
  std::size_t i = 0;
  walk(x.dims, std::array{strides}, [&](const auto& at) { result.mean[at[0]] += x.values[i++] / count; });
  i = 0;
  walk(x.dims, std::array{strides}, [&](const auto& at) {
    const double difference = x.values[i++] - result.mean[at[0]];
    result.variance[at[0]] += difference * difference / count;
  });
  return result;
}

void expect_channels(const Call& call) {
  if (call[0].rank() < 2) fail("{} has no axis of channels", dims_text(call[0].dims));
}

/// The dims with every axis but the channels, and unless `samples` the batch, reduced to 1.
Dims channel_dims(const Dims& dims, bool samples) {
  Dims result(dims.size(), 1);
  result[1] = dims[1];
  if (samples) result[0] = dims[0];
  return result;
}

/// y = scale[c] (x - mean) / sqrt(variance + epsilon) + shift[c] with c the axis of channels.
void normalize(const Array& x, const Moments& m, const Dims& strides, const Array& scale, const Array& shift,
               double epsilon, Array& y) {
  Dims channel(x.dims.size());
  channel[1] = 1;
  std::size_t i = 0;
  walk(x.dims, std::array{strides, channel}, [&](const auto& at) {
    const double centred = (x.values[i] - m.mean[at[0]]) / std::sqrt(m.variance[at[0]] + epsilon);
    y.values[i++] = centred * scale.values[at[1]] + shift.values[at[1]];
  });
}

bool training(const Call& call) { return call.version >= 14 && call.node.integer("training_mode", 0) != 0; }

Arrays infer_batch(const Call& call) {
  expect_channels(call);
  const Dims channels{call[0].dims[1]};
  for (std::size_t i = 1; i <= 4; ++i) expect_dims(call, i, channels);
  Arrays out = infer_same(call);
  if (training(call)) {
    out.push_back(described(call[3].type, channels));
    out.push_back(described(call[4].type, channels));
  }
  return out;
}
void fill_batch(const Call& call, Arrays& out) {
  const Array &x = call.known(0), &scale = call.known(1), &shift = call.known(2);
  if (x.values.empty()) return;
  Moments used{call.known(3).values, call.known(4).values};
  const Dims kept = channel_dims(x.dims, false), strides = broadcast_strides(kept, x.dims);
  if (training(call)) {
    const double momentum = call.node.number("momentum", 0.9);
    const Moments old = used;
    used = moments(x, kept, strides);
    for (std::size_t c = 0; c < old.mean.size(); ++c) {
      out[1].values[c] = old.mean[c] * momentum + used.mean[c] * (1 - momentum);
      out[2].values[c] = old.variance[c] * momentum + used.variance[c] * (1 - momentum);
    }
  }
  normalize(x, used, strides, scale, shift, call.node.number("epsilon", 1e-5), out[0]);
}

Arrays infer_instance(const Call& call) {
  expect_channels(call);
  expect_dims(call, 1, {call[0].dims[1]});
  expect_dims(call, 2, {call[0].dims[1]});
  return infer_same(call);
}
void fill_instance(const Call& call, Arrays& out) {
  const Array& x = call.known(0);
  if (x.values.empty()) return;
  const Dims kept = channel_dims(x.dims, true), strides = broadcast_strides(kept, x.dims);
  normalize(x, moments(x, kept, strides), strides, call.known(1), call.known(2), call.node.number("epsilon", 1e-5),
            out[0]);
}

Dims layer_dims(const Call& call) {
  Dims kept = call[0].dims;
  const int axis = checked_axis(call.node.integer("axis", -1), call[0].rank());
  std::fill(kept.begin() + axis, kept.end(), 1);
  return kept;
}
Arrays infer_layer(const Call& call) {
  const Dims kept = layer_dims(call);
  broadcast_strides(call[1].dims, call[0].dims);
  if (call.has(2)) broadcast_strides(call[2].dims, call[0].dims);
  const auto stash = static_cast<Type>(call.node.integer("stash_type", 1));
  return {described(call[0].type, call[0].dims), described(stash, kept), described(stash, kept)};
}
void fill_layer(const Call& call, Arrays& out) {
  const Array &x = call.known(0), &scale = call.known(1);
  if (x.values.empty()) return;
  const Dims kept = layer_dims(call), strides = broadcast_strides(kept, x.dims);
  const Moments m = moments(x, kept, strides);
  const double epsilon = call.node.number("epsilon", 1e-5);
  out[1].values = m.mean;
  for (std::size_t i = 0; i < m.variance.size(); ++i) out[2].values[i] = 1 / std::sqrt(m.variance[i] + epsilon);
  const Array* shift = call.has(2) ? &call.known(2) : nullptr;
  const std::array walks{strides, broadcast_strides(scale.dims, x.dims),
                         shift ? broadcast_strides(shift->dims, x.dims) : Dims(x.dims.size())};
  std::size_t i = 0;
  walk(x.dims, walks, [&](const auto& at) {
    const double centred = (x.values[i] - m.mean[at[0]]) * out[2].values[at[0]];
    out[0].values[i++] = centred * scale.values[at[1]] + (shift ? shift->values[at[2]] : 0);
  });
}

void fill_mean_variance(const Call& call, Arrays& out) {
  const Array& x = call.known(0);
  if (x.values.empty()) return;
  Dims kept = x.dims;
  for (const int axis : checked_axes(call.node.integers("axes", {0, 2, 3}), x.rank())) kept[axis] = 1;
  const Dims strides = broadcast_strides(kept, x.dims);
  const Moments m = moments(x, kept, strides);
  std::size_t i = 0;
  walk(x.dims, std::array{strides}, [&](const auto& at) {
    out[0].values[i] = (x.values[i] - m.mean[at[0]]) / (std::sqrt(m.variance[at[0]]) + 1e-9);
    ++i;
  });
}

/// y = x / (bias + alpha / size * sum of squares over the `size` nearest channels)^beta.
void fill_local_response(const Call& call, Arrays& out) {
  const Array& x = call.known(0);
  const OnnxNode& node = call.node;
  const double alpha = node.number("alpha", 1e-4), beta = node.number("beta", 0.75), bias = node.number("bias", 1);
  const std::int64_t size = node.integer("size", 0);
  if (size < 1) fail("size {}; at least 1 is valid", size);
  expect_channels(call);
  const Around form = around(x.dims, 1);
  for (std::int64_t o = 0; o < form.outer; ++o)
    for (std::int64_t c = 0; c < form.extent; ++c)
      for (std::int64_t i = 0; i < form.inner; ++i) {
        const std::int64_t first = std::max<std::int64_t>(0, c - (size - 1) / 2);
        const std::int64_t last = std::min(form.extent - 1, c + size / 2);
        double sum = 0;
        for (std::int64_t n = first; n <= last; ++n) {
          const double value = x.values[(o * form.extent + n) * form.inner + i];
          sum += value * value;
        }
        const std::int64_t at = (o * form.extent + c) * form.inner + i;
        out[0].values[at] = x.values[at] / std::pow(bias + alpha / static_cast<double>(size) * sum, beta);
      }
}

void fill_lp(const Call& call, Arrays& out) {
  const Array& x = call.known(0);
  const std::int64_t p = call.node.integer("p", 2);
  if (p != 1 && p != 2) fail("a norm of order {}; 1 and 2 are valid", p);
  const Around form = around(x.dims, checked_axis(call.node.integer("axis", -1), x.rank()));
  for (std::int64_t o = 0; o < form.outer; ++o)
    for (std::int64_t i = 0; i < form.inner; ++i) {
      const auto at = [&](std::int64_t n) { return (o * form.extent + n) * form.inner + i; };
      double norm = 0;
      for (std::int64_t n = 0; n < form.extent; ++n)
        norm += p == 1 ? std::fabs(x.values[at(n)]) : x.values[at(n)] * x.values[at(n)];
      if (p == 2) norm = std::sqrt(norm);
      for (std::int64_t n = 0; n < form.extent; ++n) out[0].values[at(n)] = norm == 0 ? 0 : x.values[at(n)] / norm;
    }
}

}  // namespace

std::span<const Function> normal_functions() {
  static constexpr Function all[] = {
      function<infer_batch, fill_batch>("BatchNormalization"),
      function<infer_instance, fill_instance>("InstanceNormalization"),
      function<infer_same, fill_local_response>("LRN"),
      function<infer_layer, fill_layer>("LayerNormalization"),
      function<infer_same, fill_lp>("LpNormalization"),
      function<infer_same, fill_mean_variance>("MeanVarianceNormalization"),
  };
  return all;
}

}  // namespace isobar::onnx
