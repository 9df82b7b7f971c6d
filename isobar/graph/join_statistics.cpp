#include "isobar/graph/join_statistics.hpp"

#include "isobar/base/error.hpp"
#include "isobar/graph/pass.hpp"

namespace isobar::graph {

Graph join_statistics(const Graph& graph, ops::Seat seat) {
  Rewriter rewriter(graph);
  for (const Node& node : graph.nodes()) {
    if (node.kind != "batch_norm") {
      rewriter.copy(node);
      continue;
    }
    expects(node.spec.name() == node.kind, "a network that no pass has changed");
    Spec spec = node.spec;
    seat.set_in(spec);
    ++seat.id;
    rewriter.replace(node, ops::make_operator(spec), node.in, spec);
  }
  return rewriter.take();
}

}  // namespace isobar::graph
