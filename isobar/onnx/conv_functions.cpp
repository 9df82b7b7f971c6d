// Conv: y[b,o,p] = bias[o] + sum over channels c of o's group and taps k of x[b,c,p*stride-pad+k*dilation] w[o,c,k].
// ConvTranspose scatters what Conv gathers: its output takes the place of Conv's input.
#include <algorithm>

#include "isobar/onnx/window_attributes.hpp"

namespace isobar::onnx {
namespace {

std::int64_t groups(const Call& call) {
  const std::int64_t group = call.node.integer("group", 1);
  if (group < 1) fail("{} groups; at least 1 is valid", group);
  expect_rank(call, 1, call[0].rank());
  return group;
}

WindowAttributes conv_window(const Call& call) {
  const std::int64_t group = groups(call);
  const Dims &x = call[0].dims, &w = call[1].dims;
  const WindowAttributes result = window(call, x, spatial(w));
  if (x[1] % group != 0 || x[1] / group != w[1] || w[0] % group != 0)
    fail("{} channels in {} groups do not fit weights of {}", x[1], group, dims_text(w));
  if (call.has(2)) expect_dims(call, 2, {w[0]});
  return result;
}
Arrays infer_conv(const Call& call) {
  const WindowAttributes w = conv_window(call);
  Dims dims{call[0].dims[0], call[1].dims[0]};
  dims.insert(dims.end(), w.out.begin(), w.out.end());
  return {described(call[0].type, dims)};
}
void fill_conv(const Call& call, Arrays& out) {
  const Array &x = call.known(0), &weights = call.known(1);
  const WindowAttributes w = conv_window(call);
  const std::int64_t batch = x.dims[0], channels = x.dims[1], filters = weights.dims[0], per_group = weights.dims[1];
  const std::int64_t in_size = product(w.in), out_size = product(w.out), taps = product(w.kernel);
  const std::int64_t filters_per_group = filters / groups(call);
  const std::vector<double>* bias = call.has(2) ? &call.known(2).values : nullptr;
  std::int64_t p = 0;
  for_each_index(w.out, [&](const Dims& position) {
    for (std::int64_t f = 0; f < filters; ++f)
      for (std::int64_t b = 0; b < batch; ++b) out[0].values[(b * filters + f) * out_size + p] = bias ? (*bias)[f] : 0;
    w.cover(position, [&](std::int64_t at, std::int64_t tap) {
      for (std::int64_t b = 0; b < batch; ++b)
        for (std::int64_t f = 0; f < filters; ++f) {
          const std::int64_t first = b * channels + f / filters_per_group * per_group;
          double sum = 0;
          for (std::int64_t c = 0; c < per_group; ++c)
            sum += x.values[(first + c) * in_size + at] * weights.values[(f * per_group + c) * taps + tap];
          out[0].values[(b * filters + f) * out_size + p] += sum;
        }
    });
    ++p;
  });
}

/// The window seen from the other side: `in` is the output of the transposed convolution, `out` its input.
WindowAttributes transposed_window(const Call& call) {
  const std::int64_t group = groups(call);
  const OnnxNode& node = call.node;
  const Dims &x = call[0].dims, &weights = call[1].dims;
  WindowAttributes w;
  w.out = spatial(x);
  w.kernel = spatial(weights);
  const std::size_t rank = w.out.size();
  if (x[1] != weights[0] || x[1] % group != 0)
    fail("{} channels in {} groups do not fit weights of {}", x[1], group, dims_text(weights));
  if (weights[1] > max_axis / group) fail("{} groups of {} channels are too many", group, weights[1]);
  if (call.has(2)) expect_dims(call, 2, {weights[1] * group});
  if (node.has("kernel_shape") && window_attribute(node, "kernel_shape", rank, 1) != w.kernel)
    fail("kernel_shape differs from the kernel {}", dims_text(w.kernel));
  w.stride = window_attribute(node, "strides", rank, 1);
  w.dilation = window_attribute(node, "dilations", rank, 1);
  const Dims extra = window_attribute(node, "output_padding", rank, 0);
  const std::string mode = node.text("auto_pad", "NOTSET");
  const bool same = mode.starts_with("SAME");
  const Dims pads = mode == "NOTSET" ? window_attribute(node, "pads", 2 * rank, 0) : Dims(2 * rank, 0);
  const bool wanted = node.has("output_shape");
  Dims shape = node.integers("output_shape", {});
  if (shape.size() == rank + 2) shape.erase(shape.begin(), shape.begin() + 2);
  if (wanted && shape.size() != rank) fail("output_shape has {} entries for {} spatial axes", shape.size(), rank);
  for (std::size_t i = 0; i < rank; ++i) {
    if (w.kernel[i] < 1 || w.out[i] < 1) fail("a kernel of {} over {}", dims_text(w.kernel), dims_text(w.out));
    const std::int64_t reach = (w.kernel[i] - 1) * w.dilation[i] + 1;
    const std::int64_t full = (w.out[i] - 1) * w.stride[i] + extra[i] + reach;
    std::int64_t before = pads[i], after = pads[rank + i];
    if (wanted || same) {
      const std::int64_t target = wanted ? shape[i] : w.out[i] * w.stride[i];
      const std::int64_t total = full - target;
      // With SAME_UPPER an odd element is cropped at the end, otherwise at the beginning; a negative total adds rows of
      // bias at the end.
      before = total <= 0 ? 0 : mode == "SAME_UPPER" ? total / 2 : total - total / 2;
      after = total - before;
    }
    w.before.push_back(before);
    w.after.push_back(after);
    w.in.push_back(full - before - after);
  }
  return w;
}
Arrays infer_transposed(const Call& call) {
  const WindowAttributes w = transposed_window(call);
  Dims dims{call[0].dims[0], call[1].dims[1] * groups(call)};
  dims.insert(dims.end(), w.in.begin(), w.in.end());
  return {described(call[0].type, dims)};
}
void fill_transposed(const Call& call, Arrays& out) {
  const Array &x = call.known(0), &weights = call.known(1);
  const WindowAttributes w = transposed_window(call);
  const std::int64_t group = groups(call), batch = x.dims[0], channels = x.dims[1], per_group = weights.dims[1];
  const std::int64_t filters = per_group * group, out_size = product(w.in), in_size = product(w.out);
  const std::int64_t taps = product(w.kernel), channels_per_group = channels / group;
  if (call.has(2)) {
    const Array& bias = call.known(2);
    for (std::size_t i = 0; i < out[0].values.size(); ++i)
      out[0].values[i] = bias.values[static_cast<std::int64_t>(i) / out_size % filters];
  }
  std::int64_t p = 0;
  for_each_index(w.out, [&](const Dims& position) {
    w.cover(position, [&](std::int64_t at, std::int64_t tap) {
      for (std::int64_t b = 0; b < batch; ++b)
        for (std::int64_t c = 0; c < channels; ++c) {
          const double value = x.values[(b * channels + c) * in_size + p];
          const std::int64_t first = b * filters + c / channels_per_group * per_group;
          for (std::int64_t f = 0; f < per_group; ++f)
            out[0].values[(first + f) * out_size + at] += value * weights.values[(c * per_group + f) * taps + tap];
        }
    });
    ++p;
  });
}

}  // namespace

std::span<const Function> conv_functions() {
  static constexpr Function all[] = {
      function<infer_conv, fill_conv>("Conv"),
      function<infer_transposed, fill_transposed>("ConvTranspose"),
  };
  return all;
}

}  // namespace isobar::onnx
