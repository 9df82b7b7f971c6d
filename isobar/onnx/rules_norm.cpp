// Normalisations. ONNX's momentum weights the old running average, batch_norm's the new value: momentum = 1 - ONNX's.
#include <algorithm>

#include "isobar/onnx/importer.hpp"

namespace isobar::onnx {
namespace {

using graph::ValueId;

bool batch_norm(Importer& m) {
  const OnnxNode& node = m.node();
  const std::size_t rank = m.dims(0).size();
  if (rank < 2 || m.inputs() < 5)
    fail("x = {} with {} inputs; needs [N, C, ...] and 5", dims_text(m.dims(0)), m.inputs());
  // If batch statistics are outputs, or old files have statistics per position, a function does it.
  if (m.wanted(1) || m.wanted(2) || m.wanted(3) || m.wanted(4) || node.integer("spatial", 1) == 0) return false;
  for (std::size_t i = 1; i < 5; ++i)
    if (m.dims(i) != Dims{m.dims(0)[1]}) fail("input {} is {}, x is {}", i, dims_text(m.dims(i)), dims_text(m.dims(0)));
  const bool last = rank >= 3;
  std::vector<ValueId> in{last ? m.last(0) : m.plain(0), m.weight(1, {"constant(value=1)"}), m.weight(2, {}),
                          m.weight(3, {.trained = false}), m.weight(4, {"constant(value=1)", false})};
  const ValueId y = m.add(fmt::format("batch_norm(momentum={}, eps={}, unbiased=false)",
                                      1 - node.number("momentum", 0.9), node.number("epsilon", 1e-5)),
                          std::move(in));
  last ? m.give_last(0, y) : m.give_plain(0, y);
  return true;
}

// (x - mean) / sqrt(variance + eps) over the spatial axes of each sample and channel, times scale plus shift.
bool instance_norm(Importer& m) {
  const int rank = m.rank(0);
  if (rank < 3 || rank > 5) return false;
  for (std::size_t i = 1; i < 3; ++i)
    if (m.dims(i) != Dims{m.dims(0)[1]}) fail("input {} is {}, x is {}", i, dims_text(m.dims(i)), dims_text(m.dims(0)));
  std::vector<int> spatial;
  for (int a = 1; a < rank - 1; ++a) spatial.push_back(a);
  const std::string mean = fmt::format("reduce(kind=mean, axes=[{}], keep=true)", fmt::join(spatial, ", "));
  const ValueId x = m.last(0), scale = m.weight(1, {"constant(value=1)"}), shift = m.weight(2, {});
  const ValueId centred = m.add("sub", {x, m.add(mean, x)});
  const ValueId variance = m.add(mean, m.add("mul", {centred, centred}));
  const ValueId eps = m.constant({1}, {static_cast<float>(m.node().number("epsilon", 1e-5))});
  const ValueId spread = m.add("sqrt", m.add("add", {variance, eps}));
  m.give_last(0, m.add("add", {m.add("mul", {m.add("div", {centred, spread}), scale}), shift}));
  return true;
}

bool layer_norm(Importer& m) {
  const int axis = Importer::axis(m.node().integer("axis", -1), m.rank(0));
  const Dims tail(m.dims(0).begin() + axis, m.dims(0).end());
  if (m.wanted(1) || m.wanted(2) || m.dims(1) != tail || (m.has(2) && m.dims(2) != tail) || axis == 0) return false;
  std::vector<ValueId> in{m.plain(0), m.weight(1, {"constant(value=1)"})};
  if (m.has(2)) in.push_back(m.weight(2, {}));
  m.give_plain(
      0, m.add(fmt::format("layer_norm(axis={}, eps={}, shift={})", axis, m.node().number("epsilon", 1e-5), m.has(2)),
               std::move(in)));
  return true;
}

bool lrn(Importer& m) {
  const OnnxNode& node = m.node();
  const std::int64_t size = node.integer("size", 0);
  if (m.rank(0) < 3 || m.rank(0) > 5) return false;
  if (size < 1 || size > 1 << 20) fail("size = {} is not 1 to 2^20", size);
  m.give_last(0, m.add(fmt::format("lrn(size={}, alpha={}, beta={}, k={})", size, node.number("alpha", 1e-4),
                                   node.number("beta", 0.75), node.number("bias", 1)),
                       m.last(0)));
  return true;
}

}  // namespace

std::span<const ImportRule> rules_norm() {
  static constexpr ImportRule all[] = {{"BatchNormalization", batch_norm},
                                       {"InstanceNormalization", instance_norm},
                                       {"LayerNormalization", layer_norm},
                                       {"LRN", lrn}};
  return all;
}

}  // namespace isobar::onnx
