#include "isobar/graph/reaching.hpp"

#include <algorithm>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"

namespace isobar::graph {

Graph reaching(const Graph& graph, std::span<const std::string> outputs) {
  std::vector<bool> wanted(graph.values().size());
  for (const std::string& name : outputs) {
    const auto found = graph.outputs().find(name);
    if (found == graph.outputs().end()) {
      std::vector<std::string> known;
      for (const auto& [output, _] : graph.outputs()) known.push_back(output);
      fail("the network has no output '{}'{}", name, suggestion(name, known));
    }
    wanted[static_cast<std::size_t>(found->second)] = true;
  }
  for (auto node = graph.nodes().rbegin(); node != graph.nodes().rend(); ++node)
    if (std::ranges::any_of(node->out, [&](ValueId id) { return wanted[static_cast<std::size_t>(id)]; }))
      for (const ValueId id : node->in) wanted[static_cast<std::size_t>(id)] = true;

  Graph part;
  std::vector<ValueId> now(graph.values().size(), -1);
  for (std::size_t id = 0; id < now.size(); ++id) {
    const Value& value = graph.values()[id];
    if (value.role == Value::Role::parameter) now[id] = part.parameter(value.name, value.parameter);
    if (value.role == Value::Role::input && wanted[id]) now[id] = part.input(value.name, value.shape);
  }
  for (const Node& node : graph.nodes()) {
    if (std::ranges::none_of(node.out, [&](ValueId id) { return wanted[static_cast<std::size_t>(id)]; })) continue;
    std::vector<ValueId> in;
    for (const ValueId id : node.in) in.push_back(now[static_cast<std::size_t>(id)]);
    const ValueId first = part.add_node(node.name, node.kind, node.op, std::move(in), node.spec);
    for (std::size_t i = 0; i < node.out.size(); ++i)
      now[static_cast<std::size_t>(node.out[i])] = first + static_cast<ValueId>(i);
  }
  for (const std::string& name : outputs) part.output(name, now[static_cast<std::size_t>(graph.outputs().at(name))]);
  return part;
}

}  // namespace isobar::graph
