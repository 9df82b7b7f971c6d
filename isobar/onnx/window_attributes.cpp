// Pads and positions of a window.
#include "isobar/onnx/window_attributes.hpp"

#include <algorithm>

namespace isobar::onnx {

Dims spatial(const Dims& dims) {
  if (dims.size() < 3) fail("{} has no spatial axes behind batch and channels", dims_text(dims));
  return {dims.begin() + 2, dims.end()};
}

Dims window_attribute(const OnnxNode& node, const char* name, std::size_t rank, std::int64_t least) {
  const Dims values = node.integers(name, Dims(rank, least));
  if (values.size() != rank) fail("{} has {} entries for {} spatial axes", name, values.size(), rank);
  for (const std::int64_t value : values)
    if (value < least || value > std::int64_t{1} << 30) fail("{} of {}; at least {} is valid", name, value, least);
  return values;
}

WindowAttributes window(const Call& call, const Dims& dims, std::optional<Dims> kernel) {
  const OnnxNode& node = call.node;
  WindowAttributes w;
  w.in = spatial(dims);
  const std::size_t rank = w.in.size();
  w.kernel = node.has("kernel_shape") || !kernel ? window_attribute(node, "kernel_shape", rank, 1) : *kernel;
  if (kernel && w.kernel != *kernel)
    fail("kernel_shape {} for a kernel of {}", dims_text(w.kernel), dims_text(*kernel));
  for (const std::int64_t extent : w.kernel)
    if (extent < 1) fail("a kernel of {}", dims_text(w.kernel));
  checked_count(w.kernel, "kernel");
  w.stride = window_attribute(node, "strides", rank, 1);
  w.dilation = window_attribute(node, "dilations", rank, 1);
  const std::string mode = node.text("auto_pad", "NOTSET");
  if (mode != "NOTSET" && mode != "VALID" && mode != "SAME_UPPER" && mode != "SAME_LOWER")
    fail("auto_pad '{}'; NOTSET, VALID, SAME_UPPER and SAME_LOWER are valid", mode);
  const Dims pads = mode == "NOTSET" ? window_attribute(node, "pads", 2 * rank, 0) : Dims(2 * rank, 0);
  w.before.assign(pads.begin(), pads.begin() + rank);
  w.after.assign(pads.begin() + rank, pads.end());
  const bool round_up = node.integer("ceil_mode", 0) != 0;
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t reach = (w.kernel[i] - 1) * w.dilation[i] + 1, stride = w.stride[i];
    if (mode.starts_with("SAME")) {
      const std::int64_t count = (w.in[i] + stride - 1) / stride;
      const std::int64_t total = std::max<std::int64_t>((count - 1) * stride + reach - w.in[i], 0);
      w.before[i] = mode == "SAME_UPPER" ? total / 2 : total - total / 2;
      w.after[i] = total - w.before[i];
    }
    const std::int64_t room = w.in[i] + w.before[i] + w.after[i] - reach;
    if (room < 0) fail("a window over {} does not fit into {} with its pads", reach, w.in[i]);
    std::int64_t positions = (room + (round_up ? stride - 1 : 0)) / stride + 1;
    // Rounding up must not add a window that covers only the trailing pad.
    if (round_up && (positions - 1) * stride >= w.in[i] + w.before[i]) --positions;
    w.out.push_back(positions);
  }
  return w;
}

}  // namespace isobar::onnx
