#include "isobar/zoo/network.hpp"

namespace isobar::zoo {

std::unique_ptr<Network> make_network(const Spec& spec, Spec* resolved) {
  return make(networks(), spec, "network", resolved);
}

graph::ValueId Network::add_loss(graph::Graph& graph, graph::ValueId target, const Spec& loss) const {
  return add_loss_term(graph, loss, graph.find("prediction"), target, "loss");
}

graph::ValueId add_loss_term(graph::Graph& graph, const Spec& loss, graph::ValueId prediction, graph::ValueId target,
                             std::string name) {
  const graph::ValueId value = graph.add(loss, {prediction, target}, std::move(name));
  if (!graph.nodes().back().op->is_loss()) fail_usage("loss: operator '{}' is not a loss", loss.name());
  return value;
}

graph::ValueId add_weighted_sum(graph::Graph& graph, std::vector<std::pair<graph::ValueId, double>> terms) {
  std::vector<graph::ValueId> scaled;
  for (const auto& [term, factor] : terms)
    scaled.push_back(factor == 1 ? term
                                 : graph.add(fmt::format("scale(by={})", factor), term,
                                             fmt::format("{}_scaled", graph.value(term).name)));
  return graph.add("add", scaled, "loss");
}

graph::Graph training_graph(const Network& network, std::int64_t batch, const Spec& loss) {
  graph::Graph graph;
  network.build(graph, batch);
  const graph::ValueId y = graph.input("y", network.target(batch));
  graph.loss(network.add_loss(graph, y, loss.name().empty() ? network.loss() : loss));
  return graph;
}

}  // namespace isobar::zoo
