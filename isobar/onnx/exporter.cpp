#include "isobar/onnx/exporter.hpp"

#include <algorithm>

#include "isobar/base/text.hpp"
#include "isobar/onnx/function_operator.hpp"
#include "isobar/onnx/import.hpp"

namespace isobar::onnx {

using graph::ValueId;

namespace {

constexpr std::int64_t written_version = 17;
// Operators over channels, and those for which the order of axes does not matter.
constexpr std::string_view kinds_over_channels[] = {
    "conv",       "deconv", "max_pool", "average_pool",   "global_pool",   "lrn",
    "batch_norm", "resize", "prelu",    "depth_to_space", "space_to_depth"};
constexpr std::string_view elementwise_kinds[] = {"add",        "sub",   "mul",     "div",    "relu",
                                                  "leaky_relu", "scale", "dropout", "concat", "pad"};

Dims turned_dims(const Dims& dims, const std::vector<std::int64_t>& order) {
  Dims result;
  for (const std::int64_t a : order) result.push_back(dims[a]);
  return result;
}

}  // namespace

Attribute attribute(std::int64_t value) { return {.kind = Attribute::Kind::integer, .integer = value}; }
Attribute attribute(int value) { return attribute(std::int64_t{value}); }
Attribute attribute(double value) { return {.kind = Attribute::Kind::number, .number = value}; }
Attribute attribute(const char* text) { return {.kind = Attribute::Kind::text, .text = text}; }
Attribute attribute(std::vector<std::int64_t> values) {
  return {.kind = Attribute::Kind::integers, .integers = std::move(values)};
}

std::string Exporter::fresh_name(const std::string& wish) {
  std::string name = wish;
  for (int n = 2; !taken_.insert(name).second; ++n) name = fmt::format("{}~{}", wish, n);
  return name;
}

std::vector<std::string> Exporter::emit_node(OnnxNode node) {
  std::vector<std::string> names;
  for (std::string& out : node.out) names.push_back(out = out.empty() ? "" : fresh_name(node_ ? node_->name : out));
  node.name = fmt::format("{} {}", node.op, names.empty() ? "" : names[0]);
  model_.nodes.push_back(std::move(node));
  return names;
}

std::vector<std::string> Exporter::emit_many(const char* op, std::vector<std::string> in, std::size_t outputs,
                                             Attributes attributes) {
  return emit_node({"", op, "", std::move(in), std::vector<std::string>(outputs, "y"), std::move(attributes)});
}

std::string Exporter::emit(const char* op, std::vector<std::string> in, Attributes attributes) {
  return emit_many(op, std::move(in), 1, std::move(attributes)).front();
}

std::string Exporter::constant(const Dims& dims, const std::vector<float>& values) {
  const std::string name = fresh_name(node_->name + ".constant");
  model_.initializers[name] = stored(dims, values);
  return name;
}

std::string Exporter::constant(const std::vector<std::int64_t>& values) {
  const std::string name = fresh_name(node_->name + ".constant");
  model_.initializers[name] = stored(Array{Type::int64, {std::ssize(values)}, {values.begin(), values.end()}});
  return name;
}

Exporter::Named& Exporter::held(std::size_t i) {
  const ValueId id = node_->in[i];
  const auto found = held_.find(id);
  if (found != held_.end()) return found->second;
  declare(id);
  return held_.at(id);
}

// Inputs and weights are added to the file when they are first read.
void Exporter::declare(ValueId id) {
  const graph::GraphValue& v = graph_.value(id);
  expects(v.role != graph::GraphValue::Role::activation, "values to be written before they are read");
  const std::string name = fresh_name(v.name);
  if (v.role == graph::GraphValue::Role::parameter) {
    model_.initializers[name] = stored(v.shape.extents(), weights_(v.name));
    held_[id].plain = name;
    return;
  }
  const int rank = v.shape.rank();
  const bool turns = rank >= 3 && wants_first(id);
  const Dims dims = turns ? turned_dims(v.shape.extents(), to_first(rank)) : v.shape.extents();
  Interface input{
      name, only_indices(id) ? Type::int64 : Type::float32, dims, std::vector<std::string>(dims.size()), true, true};
  model_.inputs.push_back(std::move(input));
  (turns ? held_[id].first : held_[id].plain) = name;
}

bool Exporter::wants_first(ValueId id, int depth) const {
  if (depth > 8) return false;
  for (const graph::Node& node : graph_.nodes()) {
    if (node.in.empty() || std::find(node.in.begin(), node.in.end(), id) == node.in.end()) continue;
    if (is_one_of(kinds_over_channels, node.kind) && node.in[0] == id) return true;
    if (is_one_of(elementwise_kinds, node.kind) && wants_first(node.out[0], depth + 1)) return true;
  }
  return false;
}

bool Exporter::only_indices(ValueId id) const {
  bool read = false;
  for (const graph::Node& node : graph_.nodes())
    for (std::size_t i = 0; i < node.in.size(); ++i) {
      if (node.in[i] != id) continue;
      read = true;
      if (!(node.kind == "embedding" && i == 0) && !(node.kind == "gather" && i == 1)) return false;
    }
  return read;
}

std::string Exporter::plain(std::size_t i) {
  Named& h = held(i);
  if (h.plain.empty()) {
    const int rank = shape(i).rank();
    h.plain = emit("Transpose", {h.first}, {{"perm", attribute(to_last(rank))}});
  }
  return h.plain;
}

std::string Exporter::first(std::size_t i) {
  Named& h = held(i);
  const int rank = shape(i).rank();
  if (rank < 3) return h.plain;
  if (h.first.empty()) h.first = emit("Transpose", {h.plain}, {{"perm", attribute(to_first(rank))}});
  return h.first;
}

bool Exporter::held_first(std::size_t i) const {
  const auto found = held_.find(node_->in[i]);
  if (found != held_.end()) return found->second.plain.empty();
  const graph::GraphValue& v = graph_.value(node_->in[i]);
  return v.role == graph::GraphValue::Role::input && v.shape.rank() >= 3 && wants_first(node_->in[i]);
}

// A value of lower rank is aligned with the last axes of the graph, the last of which is axis 1 of the file.
std::string Exporter::operand(std::size_t i, int rank, bool channels_first) {
  const Shape& x = shape(i);
  if (!channels_first) return plain(i);
  if (x.rank() == rank) return first(i);
  Dims dims(rank, 1);
  std::copy(x.extents().rbegin(), x.extents().rend(), dims.rbegin());
  return emit("Transpose", {emit("Reshape", {plain(i), constant(dims)})}, {{"perm", attribute(to_first(rank))}});
}

std::string Exporter::indices(std::size_t i) {
  const std::string name = plain(i);
  const auto input =
      std::find_if(model_.inputs.begin(), model_.inputs.end(), [&](const Interface& v) { return v.name == name; });
  if (input != model_.inputs.end() && input->type == Type::int64) return name;
  std::string& whole = indices_[name];
  if (whole.empty()) whole = emit("Cast", {name}, {{"to", attribute(static_cast<int>(Type::int64))}});
  return whole;
}

void Exporter::give_first(std::size_t o, const std::string& name) {
  (out_shape(o).rank() >= 3 ? held_[node_->out[o]].first : held_[node_->out[o]].plain) = name;
}

OnnxModel Exporter::run(const std::vector<std::string>& outputs) {
  model_.name = "isobar";
  model_.producer = "isobar";
  model_.versions[""] = written_version;
  std::set<ValueId> wanted;
  for (const std::string& name : outputs) wanted.insert(graph_.find(name));
  for (const graph::Node& node : graph_.nodes() | std::views::reverse)
    for (const ValueId id : node.out)
      if (wanted.contains(id)) wanted.insert(node.in.begin(), node.in.end());
  for (const std::string& name : outputs) taken_.insert(name);

  std::set<std::string> unknown;
  for (const graph::Node& node : graph_.nodes()) {
    if (std::none_of(node.out.begin(), node.out.end(), [&](ValueId id) { return wanted.contains(id); })) continue;
    node_ = &node;
    if (const auto* function = dynamic_cast<const FunctionOperator*>(node.op.get())) {
      OnnxNode copy = function->node();
      std::size_t next = 0;
      for (std::size_t i = 0; i < copy.in.size(); ++i) {
        const Array& a = function->inputs()[i];
        if (a.type == Type::undefined) continue;
        if (a.known) {
          copy.in[i] = fresh_name(node.name + ".constant");
          model_.initializers[copy.in[i]] = stored(a);
        } else {
          copy.in[i] = plain(next++);
          if (!is_floating(a.type))
            copy.in[i] = emit("Cast", {copy.in[i]}, {{"to", attribute(static_cast<int>(a.type))}});
        }
      }
      const std::vector<std::string> names = emit_node(std::move(copy));
      for (std::size_t o = 0; o < names.size() && o < node.out.size(); ++o)
        give_plain(o, names[o].empty() || is_floating(function->outputs()[o].type)
                          ? names[o]
                          : emit("Cast", {names[o]}, {{"to", attribute(static_cast<int>(Type::float32))}}));
      if (function->version() != written_version)
        model_.versions[""] = std::min(model_.versions[""], function->version());
      fix_batch();
    } else if (const ExportRule* rule = find_export_rule(node.kind)) {
      rule->write(*this);
    } else {
      unknown.insert(fmt::format("{} '{}'", node.kind, node.name));
    }
  }
  if (!unknown.empty())
    fail("ONNX has no form of {} here", join(std::vector<std::string>(unknown.begin(), unknown.end()), ", "));
  node_ = nullptr;

  for (const std::string& name : outputs) {
    const ValueId id = graph_.find(name);
    const Named& h = held_.at(id);
    const bool turned_form = h.plain.empty();
    const Dims shape = graph_.value(id).shape.extents();
    const Dims dims = turned_form ? turned_dims(shape, to_first(std::ssize(shape))) : shape;
    model_.nodes.push_back({"Identity " + name, "Identity", "", {turned_form ? h.first : h.plain}, {name}, {}});
    model_.outputs.push_back({name, Type::float32, dims, std::vector<std::string>(dims.size()), true, true});
  }
  if (!batch_fixed_)
    for (auto* list : {&model_.inputs, &model_.outputs})
      for (Interface& i : *list)
        if (!i.dims.empty()) i.dims[0] = -1, i.symbols[0] = "batch";
  return std::move(model_);
}

OnnxModel export_graph(const graph::Graph& graph, const std::vector<std::string>& outputs,
                       const WeightReader& weights) {
  return Exporter(graph, weights).run(outputs);
}

}  // namespace isobar::onnx
