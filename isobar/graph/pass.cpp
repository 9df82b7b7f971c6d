#include "isobar/graph/pass.hpp"

#include <algorithm>

#include "isobar/base/clock.hpp"
#include "isobar/base/error.hpp"

namespace isobar::graph {

extern const Pass fuse_pointwise;          // fuse_pointwise.cpp
extern const Pass pool_before_activation;  // pool_before_activation.cpp

std::span<const Pass* const> passes() {
  static constexpr const Pass* all[] = {&pool_before_activation, &fuse_pointwise};
  return all;
}

Graph improve(Graph graph, std::span<const std::string> without, std::vector<PassReport>* report) {
  std::vector<std::string> known;
  for (const Pass* pass : passes()) known.emplace_back(pass->name);
  for (const std::string& name : without)
    if (std::find(known.begin(), known.end(), name) == known.end())
      fail_usage("unknown pass '{}'{}", name, suggestion(name, known));
  for (const Pass* pass : passes()) {
    if (std::find(without.begin(), without.end(), pass->name) != without.end()) continue;
    const double begin = now_seconds();
    const std::size_t before = graph.nodes().size();
    graph = pass->run(graph);
    verify(graph);
    if (report) report->push_back({std::string(pass->name), now_seconds() - begin, before, graph.nodes().size()});
  }
  return graph;
}

IdVector<ValueId, std::vector<NodeId>> readers(const Graph& graph) {
  IdVector<ValueId, std::vector<NodeId>> list(graph.values().size());
  for (const NodeId n : graph.nodes().ids())
    for (const ValueId id : graph.node(n).in) list[id].push_back(n);
  return list;
}

Rewriter::Rewriter(const Graph& from) : from_(from), map_(from.values().size()) {
  for (const ValueId id : map_.ids()) {
    const GraphValue& v = from.value(id);
    if (v.role == GraphValue::Role::input) map_[id] = to_.input(v.name, v.shape);
    if (v.role == GraphValue::Role::parameter) map_[id] = to_.parameter(v.name, v.parameter);
  }
}

std::vector<ValueId> Rewriter::at(const std::vector<ValueId>& old) {
  std::vector<ValueId> now;
  for (const ValueId id : old) now.push_back(at(id));
  return now;
}

void Rewriter::copy(const Node& node) { replace(node, node.op, node.in, node.spec); }

void Rewriter::replace(const Node& node, std::shared_ptr<const ops::Operator> op,
                       const std::vector<ValueId>& old_inputs, Spec spec) {
  const ValueId first = to_.add_node(node.name, node.kind, std::move(op), at(old_inputs), std::move(spec));
  for (std::size_t i = 0; i < node.out.size(); ++i) at(node.out[i]) = first + i;
}

Graph Rewriter::take() {
  for (const auto& [name, id] : from_.outputs()) to_.output(name, at(id));
  for (const ValueId id : from_.roots()) to_.root(at(id));
  to_.set_rows(from_.rows());
  return std::move(to_);
}

}  // namespace isobar::graph
