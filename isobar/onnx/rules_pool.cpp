// Pooling over windows and over all positions, and resizing.
#include <algorithm>

#include "isobar/onnx/node_window.hpp"

namespace isobar::onnx {
namespace {

using graph::ValueId;

bool spatial_axes(Importer& m) {
  return m.floating(0) && m.rank(0) >= 3 && m.rank(0) <= 5 && checked_count(m.dims(0), "x") > 0;
}

// A window that covers no input would divide by zero or find no maximum; functions handle it as ONNX specifies.
bool sees_input(const NodeWindow& w) {
  for (std::size_t a = 0; a < w.kernel.size(); ++a)
    if (w.before[a] >= w.kernel[a] * w.dilation[a] || w.after[a] >= w.kernel[a] * w.dilation[a]) return false;
  return !w.crops();
}

bool max_pool(Importer& m) {
  if (!spatial_axes(m) || m.wanted(1)) return false;
  const NodeWindow w = node_window(m, m.node().integers("kernel_shape", {}));
  if (!sees_input(w)) return false;
  m.give_last(0, m.add(fmt::format("max_pool(window=[{}], {}, ceil={})", fmt::join(w.kernel, ", "), w.arguments(),
                                   m.node().integer("ceil_mode", 0) != 0),
                       m.last(0)));
  return true;
}

bool average_pool(Importer& m) {
  if (!spatial_axes(m)) return false;
  const NodeWindow w = node_window(m, m.node().integers("kernel_shape", {}));
  if (!sees_input(w)) return false;
  m.give_last(0, m.add(fmt::format("average_pool(window=[{}], {}, ceil={}, include_padding={})",
                                   fmt::join(w.kernel, ", "), w.arguments(), m.node().integer("ceil_mode", 0) != 0,
                                   m.node().integer("count_include_pad", 0) != 0),
                       m.last(0)));
  return true;
}

bool global_pool(Importer& m, const char* kind) {
  if (!spatial_axes(m)) return false;
  Dims dims = m.dims(0), inside(dims.size(), 1);
  std::fill(dims.begin() + 2, dims.end(), 1);
  inside.front() = dims[0];
  inside.back() = dims[1];
  const ValueId y = m.add(fmt::format("global_pool(kind={})", kind), m.last(0));
  m.give(0, m.add(fmt::format("reshape(whole=[{}])", fmt::join(inside, ", ")), y), dims, true);
  return true;
}

// Factors or sizes of all axes; only spatial axes may change.
bool resize(Importer& m, std::vector<double> scales, std::vector<std::int64_t> sizes, const std::string& kind,
            const std::string& options) {
  const std::size_t rank = m.dims(0).size();
  if (!spatial_axes(m)) return false;
  if (!scales.empty() && scales.size() != rank) fail("{} scales for x = {}", scales.size(), dims_text(m.dims(0)));
  if (!sizes.empty() && sizes.size() != rank) fail("{} sizes for x = {}", sizes.size(), dims_text(m.dims(0)));
  if (scales.empty() == sizes.empty()) fail("needs either scales or sizes");
  for (std::size_t a = 0; a < rank; ++a) {
    if (!scales.empty() && (!(scales[a] > 0) || scales[a] > 1e6))
      fail("scale {} of axis {} is not in (0, 1e6]", scales[a], a);
    const bool same = scales.empty() ? sizes[a] == m.dims(0)[a] : scales[a] == 1;
    if (a < 2 && !same) return false;
  }
  if (sizes.empty())
    for (std::size_t a = 0; a < rank; ++a) sizes.push_back(static_cast<std::int64_t>(m.dims(0)[a] * scales[a]));
  if (std::any_of(sizes.begin(), sizes.end(), [](std::int64_t s) { return s < 1; })) fail("a size is below 1");
  const std::vector<std::int64_t> size(sizes.begin() + 2, sizes.end());
  std::string spec = fmt::format("resize(size=[{}], kind={}, {}", fmt::join(size, ", "), kind, options);
  if (!scales.empty())
    spec += fmt::format(", scales=[{}]", fmt::join(std::vector<double>(scales.begin() + 2, scales.end()), ", "));
  m.give_last(0, m.add(spec + ")", m.last(0)));
  return true;
}

bool resize_node(Importer& m) {
  const OnnxNode& node = m.node();
  const std::size_t scales_at = m.version() < 11 ? 1 : 2, sizes_at = 3;
  const std::string coordinates =
      m.version() < 11 ? "asymmetric" : node.text("coordinate_transformation_mode", "half_pixel");
  const std::string kind = node.text("mode", "nearest");
  constexpr std::string_view known[] = {"half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"};
  if (std::find(std::begin(known), std::end(known), coordinates) == std::end(known)) return false;
  std::vector<double> scales;
  if (m.has(scales_at)) scales = m.numbers(scales_at).values;
  std::vector<std::int64_t> sizes;
  if (m.has(sizes_at) && scales.empty()) sizes = *m.integers("sizes", sizes_at);
  return resize(m, scales, sizes, kind,
                fmt::format("coordinates={}, rounding={}, cubic_a={}, exclude_outside={}", coordinates,
                            m.version() < 11 ? "floor" : node.text("nearest_mode", "round_prefer_floor"),
                            node.number("cubic_coeff_a", -0.75), node.integer("exclude_outside", 0) != 0));
}

bool upsample(Importer& m) {
  const std::vector<double> scales = m.node().has("scales") ? m.node().numbers("scales", {}) : m.numbers(1).values;
  return resize(m, scales, {}, m.node().text("mode", "nearest"), "coordinates=asymmetric, rounding=floor");
}

}  // namespace

std::span<const ImportRule> rules_pool() {
  static constexpr ImportRule all[] = {
      {"MaxPool", max_pool},
      {"AveragePool", average_pool},
      {"GlobalAveragePool", [](Importer& m) { return global_pool(m, "average"); }},
      {"GlobalMaxPool", [](Importer& m) { return global_pool(m, "max"); }},
      {"Resize", resize_node},
      {"Upsample", upsample},
  };
  return all;
}

}  // namespace isobar::onnx
