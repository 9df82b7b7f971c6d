#include "isobar/graph/reaching.hpp"

#include <algorithm>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"

namespace isobar::graph {

Graph reaching(const Graph& graph, std::span<const std::string> outputs) {
  IdVector<ValueId, bool> wanted(graph.values().size());
  for (const std::string& name : outputs) {
    const auto found = graph.outputs().find(name);
    if (found == graph.outputs().end()) {
      std::vector<std::string> known;
      for (const auto& [output, _] : graph.outputs()) known.push_back(output);
      fail("the network has no output '{}'{}", name, suggestion(name, known));
    }
    wanted[found->second] = true;
  }
  for (auto node = graph.nodes().rbegin(); node != graph.nodes().rend(); ++node)
    if (std::ranges::any_of(node->out, [&](ValueId id) { return wanted[id]; }))
      for (const ValueId id : node->in) wanted[id] = true;

  Graph part;
  IdVector<ValueId, ValueId> now(graph.values().size());
  for (const ValueId id : now.ids()) {
    const GraphValue& value = graph.value(id);
    if (value.role == GraphValue::Role::parameter) now[id] = part.parameter(value.name, value.parameter);
    if (value.role == GraphValue::Role::input && wanted[id]) now[id] = part.input(value.name, value.shape);
  }
  for (const Node& node : graph.nodes()) {
    if (std::ranges::none_of(node.out, [&](ValueId id) { return wanted[id]; })) continue;
    std::vector<ValueId> in;
    for (const ValueId id : node.in) in.push_back(now[id]);
    const ValueId first = part.add_node(node.name, node.kind, node.op, std::move(in), node.spec);
    for (std::size_t i = 0; i < node.out.size(); ++i) now[node.out[i]] = first + i;
  }
  part.set_rows(graph.rows());
  for (const std::string& name : outputs) part.output(name, now[graph.outputs().at(name)]);
  return part;
}

}  // namespace isobar::graph
