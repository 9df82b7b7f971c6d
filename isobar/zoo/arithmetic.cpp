#include "isobar/zoo/arithmetic.hpp"

namespace isobar::zoo {
namespace {

double number(std::int64_t count) { return static_cast<double>(count); }

// Multiply-adds of one node; 0 for kinds that are not counted.
double multiply_adds(const graph::Graph& graph, const graph::Node& node) {
  const auto in = [&](std::size_t i) -> const Shape& { return graph.value(node.in[i]).shape; };
  const Shape& out = graph.value(node.out[0]).shape;
  if (node.kind == "conv" || node.kind == "dense") return number(out.count()) * number(in(1).count(1, in(1).rank()));
  if (node.kind == "deconv") return number(in(0).count()) * number(in(1).count(1, in(1).rank()));
  if (node.kind == "attention")  // q k^T and the product with v, at all positions: masked ones are computed too
    return 2 * number(in(0).count()) * number(in(1)[1]);
  if (node.kind == "matmul") {
    // of the last two axes of b, one is the result's last axis and the other is summed over
    const std::int64_t summed = in(1)[-1] * in(1)[-2] / out[-1];
    return number(out.count()) * number(summed);
  }
  if (node.kind == "lstm") {  // in: x, perhaps two initial states, w, r, perhaps b
    const std::size_t w = node.in.size() <= 4 ? 1 : 3;
    return number(in(0)[0] * in(0)[1]) * number(in(w).count() + in(w + 1).count());
  }
  return 0;
}

}  // namespace

double arithmetic(const graph::Graph& graph) {
  double sum = 0;
  for (const graph::Node& node : graph.nodes()) sum += 2 * multiply_adds(graph, node);
  return sum;
}

}  // namespace isobar::zoo
