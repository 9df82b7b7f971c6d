// Conv and ConvTranspose: their weights [O, I/groups, k...] and [I, O/groups, k...] are those of conv and deconv.
#include "isobar/onnx/node_window.hpp"

namespace isobar::onnx {
namespace {

using graph::ValueId;

// Checks what both share; false: empty inputs, or a number of axes that the catalogue lacks.
bool fits(Importer& m) {
  const int rank = m.rank(0);
  if (m.rank(1) != rank) fail("x is {}, w is {}: the ranks must be equal", dims_text(m.dims(0)), dims_text(m.dims(1)));
  return rank >= 3 && rank <= 5 && checked_count(m.dims(0), "x") > 0 && checked_count(m.dims(1), "w") > 0;
}

std::vector<std::int64_t> kernel_of(Importer& m) {
  std::vector<std::int64_t> kernel(m.dims(1).begin() + 2, m.dims(1).end());
  if (m.node().integers("kernel_shape", kernel) != kernel)
    fail("kernel_shape is not that of w = {}", dims_text(m.dims(1)));
  return kernel;
}

bool bias_fits(Importer& m, std::int64_t filters) { return !m.has(2) || m.dims(2) == Dims{filters}; }

bool conv(Importer& m) {
  if (!fits(m)) return false;
  const NodeWindow w = node_window(m, kernel_of(m));
  const std::int64_t groups = m.node().integer("group", 1), filters = m.dims(1)[0];
  if (groups < 1 || m.dims(0)[1] != m.dims(1)[1] * groups || filters % groups != 0)
    fail("x = {} with {} groups does not fit w = {}", dims_text(m.dims(0)), groups, dims_text(m.dims(1)));
  if (w.crops() || !bias_fits(m, filters)) return false;
  std::vector<ValueId> in{m.last(0), m.weight(1, {"glorot_uniform"})};
  if (m.has(2)) in.push_back(m.weight(2, {}));
  m.give_last(0, m.add(fmt::format("conv(filters={}, kernel=[{}], {}, groups={}, bias={})", filters,
                                   fmt::join(w.kernel, ", "), w.arguments(), groups, m.has(2)),
                       std::move(in)));
  return true;
}

// ONNX: out = stride (in - 1) + output_padding + reach - before - after; output_shape, if given, determines the
// padding.
bool conv_transpose(Importer& m) {
  if (!fits(m)) return false;
  NodeWindow w = node_window(m, kernel_of(m));
  const std::size_t spatial = w.kernel.size();
  const std::int64_t groups = m.node().integer("group", 1), filters = m.dims(1)[1] * groups;
  std::vector<std::int64_t> extra = m.node().integers("output_padding", std::vector<std::int64_t>(spatial, 0));
  std::vector<std::int64_t> wanted = m.node().integers("output_shape", {});
  if (wanted.size() == spatial + 2) wanted.erase(wanted.begin(), wanted.begin() + 2);
  if (extra.size() != spatial || (!wanted.empty() && wanted.size() != spatial))
    fail("output_padding and output_shape must have {} numbers", spatial);
  if (groups < 1 || m.dims(0)[1] != m.dims(1)[0] || m.dims(0)[1] % groups != 0)
    fail("x = {} with {} groups does not fit w = {}", dims_text(m.dims(0)), groups, dims_text(m.dims(1)));
  const std::string mode = m.node().text("auto_pad", "NOTSET");
  for (std::size_t a = 0; a < spatial; ++a) {
    const std::int64_t in = m.dims(0)[a + 2];
    if (wanted.empty() && mode != "SAME_UPPER" && mode != "SAME_LOWER") continue;
    const std::int64_t out = wanted.empty() ? in * w.stride[a] : wanted[a];
    const std::int64_t reach = (w.kernel[a] - 1) * w.dilation[a] + 1;
    const std::int64_t total = w.stride[a] * (in - 1) + extra[a] + reach - out;
    if (total < 0) return false;
    w.before[a] = mode == "SAME_UPPER" ? total / 2 : total - total / 2;
    w.after[a] = total - w.before[a];
  }
  if (w.crops() || !bias_fits(m, filters)) return false;
  std::vector<ValueId> in{m.last(0), m.weight(1, {"glorot_uniform"})};
  if (m.has(2)) in.push_back(m.weight(2, {}));
  m.give_last(0,
              m.add(fmt::format("deconv(filters={}, kernel=[{}], {}, output_padding=[{}], groups={}, bias={})", filters,
                                fmt::join(w.kernel, ", "), w.arguments(), fmt::join(extra, ", "), groups, m.has(2)),
                    std::move(in)));
  return true;
}

}  // namespace

std::span<const ImportRule> rules_conv() {
  static constexpr ImportRule all[] = {{"Conv", conv}, {"ConvTranspose", conv_transpose}};
  return all;
}

}  // namespace isobar::onnx
