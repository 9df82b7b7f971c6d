#include "isobar/onnx/node_window.hpp"

#include <algorithm>

namespace isobar::onnx {

std::string NodeWindow::arguments() const {
  return fmt::format("stride=[{}], dilation=[{}], padding=[{}], padding_after=[{}]", fmt::join(stride, ", "),
                     fmt::join(dilation, ", "), fmt::join(before, ", "), fmt::join(after, ", "));
}

bool NodeWindow::crops() const {
  const auto negative = [](std::int64_t p) { return p < 0; };
  return std::any_of(before.begin(), before.end(), negative) || std::any_of(after.begin(), after.end(), negative);
}

NodeWindow node_window(Importer& m, std::vector<std::int64_t> kernel) {
  const OnnxNode& node = m.node();
  const std::size_t spatial = kernel.size();
  NodeWindow w{std::move(kernel),
               node.integers("strides", std::vector<std::int64_t>(spatial, 1)),
               node.integers("dilations", std::vector<std::int64_t>(spatial, 1)),
               {},
               {}};
  const std::vector<std::int64_t> pads = node.integers("pads", std::vector<std::int64_t>(2 * spatial, 0));
  if (m.dims(0).size() != spatial + 2) fail("a window of {} axes over an input of {}", spatial, dims_text(m.dims(0)));
  if (w.stride.size() != spatial || w.dilation.size() != spatial || pads.size() != 2 * spatial)
    fail("strides, dilations and pads must have {}, {} and {} numbers", spatial, spatial, 2 * spatial);
  for (const auto* list : {&w.kernel, &w.stride, &w.dilation})
    if (std::any_of(list->begin(), list->end(), [](std::int64_t v) { return v < 1 || v > 1 << 20; }))
      fail("kernel, strides and dilations must be 1 to 2^20");
  for (const std::int64_t p : pads)
    if (p < -(1 << 20) || p > 1 << 20) fail("pads must be within +-2^20");
  w.before.assign(pads.begin(), pads.begin() + spatial);
  w.after.assign(pads.begin() + spatial, pads.end());

  const std::string mode = node.text("auto_pad", "NOTSET");
  if (mode == "NOTSET") return w;
  for (std::size_t a = 0; a < spatial; ++a) {
    const std::int64_t in = m.dims(0)[a + 2], out = (in + w.stride[a] - 1) / w.stride[a];
    const std::int64_t reach = (w.kernel[a] - 1) * w.dilation[a] + 1;
    const std::int64_t total = mode == "VALID" ? 0 : std::max<std::int64_t>((out - 1) * w.stride[a] + reach - in, 0);
    if (mode != "VALID" && mode != "SAME_UPPER" && mode != "SAME_LOWER")
      fail("auto_pad = '{}'; valid: NOTSET, VALID, SAME_UPPER, SAME_LOWER", mode);
    w.before[a] = mode == "SAME_LOWER" ? total - total / 2 : total / 2;
    w.after[a] = total - w.before[a];
  }
  return w;
}

}  // namespace isobar::onnx
