#include "isobar/graph/graph.hpp"

#include <algorithm>

#include "isobar/base/error.hpp"

namespace isobar::graph {

void Graph::unique(const std::string& name) const {
  for (const GraphValue& v : values_)
    if (v.name == name) fail("the graph already has a value called '{}'", name);
}

ValueId Graph::input(std::string name, Shape shape) {
  unique(name);
  for (const std::int64_t extent : shape.extents())
    if (extent < 1) fail("input '{}': shape {} has an extent below 1", name, shape.str());
  return values_.add({GraphValue::Role::input, std::move(name), std::move(shape)});
}

ValueId Graph::parameter(std::string name, ops::Parameter parameter) {
  unique(name);
  return values_.add({GraphValue::Role::parameter, std::move(name), parameter.shape, std::move(parameter)});
}

ValueId Graph::add(const Spec& spec, std::vector<ValueId> in, std::string name) {
  if (name.empty()) {
    const auto same = std::count_if(nodes_.begin(), nodes_.end(), [&](const Node& n) { return n.kind == spec.name(); });
    name = fmt::format("{}_{}", spec.name(), same + 1);
  }
  Spec resolved;
  auto op = ops::make_operator(spec, &resolved);
  try {
    const int arity = op->arity();
    const std::size_t data = arity < 0 ? in.size() : arity;
    if (in.size() < data) fail("takes {} inputs, {} given", data, in.size());
    std::vector<Shape> shapes;
    for (std::size_t i = 0; i < data; ++i) shapes.push_back(value(in[i]).shape);
    const std::vector<ops::Parameter> wanted = op->parameters(shapes);
    if (in.size() > data + wanted.size())
      fail("takes {} inputs and {} weights, {} given", data, wanted.size(), in.size());
    for (std::size_t i = in.size() - data; i < wanted.size(); ++i)
      in.push_back(parameter(name + "." + wanted[i].name, wanted[i]));
    return add_node(name, spec.name(), std::move(op), std::move(in), std::move(resolved));
  } catch (const UsageError&) {
    throw;
  } catch (const Error& e) {
    fail("{} '{}': {}", spec.name(), name, e.what());
  }
}

ValueId Graph::add_node(std::string name, std::string kind, std::shared_ptr<const ops::Operator> op,
                        std::vector<ValueId> in, Spec spec) {
  std::vector<Shape> shapes;
  for (const ValueId id : in) shapes.push_back(value(id).shape);
  const std::vector<Shape> inferred = op->infer(shapes);
  Node node{std::move(name), std::move(kind), std::move(op), std::move(in), {}, std::move(spec)};
  for (std::size_t i = 0; i < inferred.size(); ++i) {
    std::string value_name = i == 0 ? node.name : fmt::format("{}:{}", node.name, i);
    unique(value_name);
    node.out.push_back(values_.add({GraphValue::Role::activation, std::move(value_name), inferred[i]}));
  }
  nodes_.push_back(std::move(node));
  return nodes_.back().out.front();
}

void Graph::output(std::string name, ValueId id) {
  expects(id && id < values_.next(), "a value of this graph");
  outputs_[std::move(name)] = id;
}

void Graph::root(ValueId id) {
  expects(id && id < values_.next(), "a value of this graph");
  roots_.push_back(id);
}

void Graph::set_rows(std::int64_t rows) {
  expects(rows > 0, "at least one row");
  rows_ = rows;
}

std::int64_t Graph::rows() const {
  if (rows_ > 0) return rows_;
  const auto input = std::ranges::find(values_, GraphValue::Role::input, &GraphValue::role);
  return input == values_.end() || input->shape.rank() == 0 ? 1 : input->shape[0];
}

ValueId Graph::find(std::string_view name) const {
  std::vector<std::string> known;
  for (const auto& [output, id] : outputs_) {
    if (output == name) return id;
    known.push_back(output);
  }
  for (const ValueId id : values_.ids()) {
    if (values_[id].name == name) return id;
    if (values_[id].role == GraphValue::Role::input) known.push_back(values_[id].name);
  }
  fail("the graph has no value called '{}'{}", name, suggestion(name, known));
}

bool Graph::is_wanted(ValueId id) const {
  if (std::ranges::find(roots_, id) != roots_.end()) return true;
  return std::any_of(outputs_.begin(), outputs_.end(), [&](const auto& o) { return o.second == id; });
}

std::int64_t Graph::parameter_count() const {
  std::int64_t count = 0;
  for (const GraphValue& v : values_)
    if (v.role == GraphValue::Role::parameter && v.parameter.trained) count += v.shape.count();
  return count;
}

void verify(const Graph& graph) {
  IdVector<ValueId, bool> written;
  for (const GraphValue& v : graph.values()) written.push_back(v.role != GraphValue::Role::activation);
  for (const Node& node : graph.nodes()) {
    std::vector<Shape> shapes;
    for (const ValueId id : node.in) {
      expects(written[id], "values to be written before they are read");
      shapes.push_back(graph.value(id).shape);
    }
    const std::vector<Shape> inferred = node.op->infer(shapes);
    expects(inferred.size() == node.out.size(), "as many outputs as the operator infers");
    for (std::size_t i = 0; i < inferred.size(); ++i) {
      expects(inferred[i] == graph.value(node.out[i]).shape, "the shapes the operator infers");
      expects(!written[node.out[i]], "every value to be written once");
      written[node.out[i]] = true;
    }
  }
}

}  // namespace isobar::graph
