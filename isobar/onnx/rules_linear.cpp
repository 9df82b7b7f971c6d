// Matrix products. A product with a constant matrix is a dense layer with that weight; all others are matmul.
#include <algorithm>

#include "isobar/onnx/importer.hpp"

namespace isobar::onnx {
namespace {

using graph::ValueId;

bool matmul(Importer& m) {
  if (m.rank(0) < 2 || m.rank(1) < 2 || !m.floating(0) || checked_count(m.dims(0), "A") == 0 ||
      checked_count(m.dims(1), "B") == 0)
    return false;
  const Dims &a = m.dims(0), &b = m.dims(1);
  if (a.back() != b[b.size() - 2]) fail("A = {} does not fit B = {}", dims_text(a), dims_text(b));
  if (b.size() == 2 && m.is_constant(1)) {
    m.give_plain(0, m.add(fmt::format("dense(units={}, bias=false)", b[1]),
                          {m.plain(0), m.weight(1, {"glorot_uniform"}, true)}));
    return true;
  }
  const int rank = std::max(m.rank(0), m.rank(1));
  m.give_plain(0, m.add("matmul", {m.operand(0, rank, false), m.operand(1, rank, false)}));
  return true;
}

// alpha A B + beta C, with A and B transposed on request.
bool gemm(Importer& m) {
  const OnnxNode& node = m.node();
  if (m.rank(0) != 2 || m.rank(1) != 2)
    fail("A = {} and B = {} must be matrices", dims_text(m.dims(0)), dims_text(m.dims(1)));
  if (!m.floating(0) || checked_count(m.dims(0), "A") == 0 || checked_count(m.dims(1), "B") == 0) return false;
  const bool turn_a = node.integer("transA", 0) != 0, turn_b = node.integer("transB", 0) != 0;
  const double alpha = node.number("alpha", 1), beta = node.number("beta", 1);
  const std::int64_t units = m.dims(1)[turn_b ? 0 : 1], features = m.dims(1)[turn_b ? 1 : 0];
  if (m.dims(0)[turn_a ? 0 : 1] != features)
    fail("A = {} does not fit B = {}", dims_text(m.dims(0)), dims_text(m.dims(1)));
  const bool row = m.has(2) && m.is_constant(2) && checked_count(m.dims(2), "C") == units &&
                   (m.dims(2).size() == 1 || (m.dims(2).size() == 2 && m.dims(2)[0] == 1));
  if (m.is_constant(1) && alpha == 1 && beta == 1 && (!m.has(2) || row)) {
    ValueId a = m.plain(0);
    if (turn_a) a = m.add("transpose(order=[1, 0])", a);
    std::vector<ValueId> in{a, m.weight(1, {"glorot_uniform"}, !turn_b)};
    if (m.has(2) && m.dims(2).size() == 1) in.push_back(m.weight(2, {}));
    else if (m.has(2))
      in.push_back(m.weight_of(2, {units}, {m.numbers(2).values.begin(), m.numbers(2).values.end()}, {}));
    m.give_plain(0, m.add(fmt::format("dense(units={}, bias={})", units, m.has(2)), std::move(in)));
    return true;
  }
  if (m.has(2) && (m.rank(2) > 2 || checked_count(m.dims(2), "C") == 0)) return false;
  ValueId y = m.add(fmt::format("matmul(transpose_a={}, transpose_b={})", turn_a, turn_b), {m.plain(0), m.plain(1)});
  if (alpha != 1) y = m.add(fmt::format("scale(by={})", alpha), y);
  if (m.has(2)) {
    ValueId c = m.operand(2, 2, false);
    if (beta != 1) c = m.add(fmt::format("scale(by={})", beta), c);
    y = m.add("add", {y, c});
  }
  m.give_plain(0, y);
  return true;
}

}  // namespace

std::span<const ImportRule> rules_linear() {
  static constexpr ImportRule all[] = {{"MatMul", matmul}, {"Gemm", gemm}};
  return all;
}

}  // namespace isobar::onnx
