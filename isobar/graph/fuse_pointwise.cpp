// Lets an operator absorb a point-wise function that is the only reader of its output: conv + leaky_relu becomes one
// primitive with a post-operation. The value between them is never stored.
#include "isobar/graph/pass.hpp"

namespace isobar::graph {
namespace {

Graph fuse_all(const Graph& graph) {
  const auto read_by = readers(graph);
  Rewriter rewriter(graph);
  IdVector<NodeId, bool> absorbed(graph.nodes().size());
  for (const NodeId n : graph.nodes().ids()) {
    const Node& node = graph.node(n);
    if (absorbed[n]) continue;
    const auto& next = read_by[node.out[0]];
    if (node.out.size() == 1 && next.size() == 1 && !graph.is_wanted(node.out[0])) {
      const Node& follower = graph.node(next[0]);
      if (const auto function = follower.op->pointwise()) {
        if (auto fused = node.op->absorb(*function)) {
          rewriter.replace(node, std::move(fused), node.in);
          rewriter.at(follower.out[0]) = rewriter.at(node.out[0]);
          absorbed[next[0]] = true;
          continue;
        }
      }
    }
    rewriter.copy(node);
  }
  return rewriter.take();
}

}  // namespace

extern const Pass fuse_pointwise{"fuse_pointwise", "an operator absorbs the activation after it", fuse_all};

}  // namespace isobar::graph
