#include "isobar/zoo/network.hpp"

namespace isobar::zoo {

std::unique_ptr<Network> make_network(const Spec& spec, Spec* resolved) {
  return make(networks(), spec, "network", resolved);
}

graph::Graph training_graph(const Network& network, std::int64_t batch, const Spec& loss) {
  graph::Graph graph;
  network.build(graph, batch);
  const graph::ValueId y = graph.input("y", network.target(batch));
  const Spec& chosen = loss.name().empty() ? network.loss() : loss;
  const graph::ValueId value = graph.add(chosen, {graph.find("prediction"), y}, "loss");
  if (!graph.nodes().back().op->is_loss()) fail_usage("loss: operator '{}' is not a loss", chosen.name());
  graph.loss(value);
  return graph;
}

}  // namespace isobar::zoo
