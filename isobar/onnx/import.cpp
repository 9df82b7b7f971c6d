// Goes through a model: constants are folded, rules translate what the catalogue has, functions do the rest.
#include "isobar/onnx/import.hpp"

#include <algorithm>
#include <deque>

#include "isobar/base/text.hpp"
#include "isobar/onnx/function_operator.hpp"
#include "isobar/onnx/importer.hpp"

namespace isobar::onnx {
namespace {

using graph::ValueId;

// Operators that treat axis 1 as channels: their inputs are best held channels-last.
constexpr std::string_view operators_over_channels[] = {
    "Conv", "ConvTranspose",      "MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool",
    "LRN",  "BatchNormalization", "Resize",  "Upsample",    "DepthToSpace",      "SpaceToDepth",
    "PRelu"};
// Operators for which the order of axes does not matter.
constexpr std::string_view elementwise_operators[] = {"Add",       "Sub",      "Mul",    "Div",     "Relu",
                                                      "LeakyRelu", "Identity", "Cast",   "Dropout", "Clip",
                                                      "Sigmoid",   "Tanh",     "Concat", "Pad"};

// Nodes that some output depends on.
std::set<const OnnxNode*> needed(const OnnxModel& model) {
  std::set<std::string> names;
  std::set<const OnnxNode*> nodes;
  for (const Interface& output : model.outputs) names.insert(output.name);
  for (std::size_t n = model.nodes.size(); n-- > 0;) {
    const OnnxNode& node = model.nodes[n];
    if (std::none_of(node.out.begin(), node.out.end(), [&](const std::string& o) { return names.contains(o); }))
      continue;
    nodes.insert(&node);
    names.insert(node.in.begin(), node.in.end());
  }
  return nodes;
}

bool supported(const OnnxNode& node) {
  if (!node.domain.empty()) return false;
  for (const auto& [name, a] : node.attributes)
    if (a.kind == Attribute::Kind::other) return false;
  return node.op == "Constant" || find_rule(node.op) || find_function(node.op);
}

constexpr std::int64_t oldest_version = 1, newest_version = 17;

}  // namespace

std::vector<std::string> unsupported_nodes(const OnnxModel& model) {
  std::vector<std::string> list;
  for (const OnnxNode* node : needed(model))
    if (!supported(*node))
      list.push_back(fmt::format("{}{} '{}'", node->domain.empty() ? "" : node->domain + ".", node->op, node->name));
  std::sort(list.begin(), list.end());
  return list;
}

std::vector<std::string> inputs_behind(const OnnxModel& model, const std::string& value) {
  std::set<std::string> names{value};
  for (std::size_t n = model.nodes.size(); n-- > 0;) {
    const OnnxNode& node = model.nodes[n];
    if (std::any_of(node.out.begin(), node.out.end(), [&](const std::string& o) { return names.contains(o); }))
      names.insert(node.in.begin(), node.in.end());
  }
  std::vector<std::string> list;
  for (const Interface& input : model.inputs)
    if (names.contains(input.name)) list.push_back(input.name);
  return list;
}

Importer::Importer(const OnnxModel& model, const ImportOptions& options) : model_(model), options_(options) {
  for (const Interface& output : model.outputs) outputs_.insert(output.name);
  for (const OnnxNode* node : needed(model))
    for (const std::string& name : node->in)
      if (!name.empty()) readers_[name].push_back(node);
}

// Whether an operator over channels reads the value, directly or through operators for which the order does not matter.
bool Importer::wants_last(const std::string& name, int depth) const {
  const auto readers = readers_.find(name);
  if (readers == readers_.end() || depth > 8) return false;
  return std::any_of(readers->second.begin(), readers->second.end(), [&](const OnnxNode* node) {
    if (is_one_of(operators_over_channels, node->op)) return node->in[0] == name;
    return is_one_of(elementwise_operators, node->op) && !node->out.empty() && wants_last(node->out[0], depth + 1);
  });
}

void Importer::declare_inputs() {
  for (const auto& [name, stored] : model_.initializers) file_numbers_ += static_cast<double>(stored.bytes.size()) / 4;
  for (const auto& [name, stored] : model_.initializers)
    values_[name] = {.type = stored.type, .dims = stored.dims, .stored = &stored, .weight = name};
  for (const Interface& input : model_.inputs) {
    if (!readers_.contains(input.name) && !outputs_.contains(input.name)) continue;
    if (!input.is_tensor || input.type == Type::text) fail("input '{}' is not a tensor of numbers", input.name);
    Held h{.type = input.type, .dims = input.dims};
    if (const auto bound = options_.bound.find(input.name); bound != options_.bound.end()) {
      h.known = std::make_shared<const Array>(bound->second);
      h.dims = bound->second.dims;
      h.type = bound->second.type;
      values_[input.name] = std::move(h);
      continue;
    }
    if (const auto given = options_.dims.find(input.name); given != options_.dims.end()) h.dims = given->second;
    else if (!input.has_dims) fail("input '{}' has no dims in the file", input.name);
    if (options_.batch > 0 && !h.dims.empty()) h.dims[0] = options_.batch;
    for (std::size_t a = 0; a < h.dims.size(); ++a) {
      if (h.dims[a] < 0 && a > 0)
        fail("input '{}' leaves axis {} ({}) open; say what it is", input.name, a, input.symbols[a]);
      h.dims[a] = h.dims[a] < 0 ? 1 : h.dims[a];
    }
    if (checked_count(h.dims, input.name) == 0) {
      h.known = std::make_shared<const Array>(zeros(h.type, h.dims));
      values_[input.name] = std::move(h);
      continue;
    }
    if (options_.differentiate.contains(input.name)) {
      h.plain = graph_.parameter(fresh_name(input.name), {"", graph_shape(h.dims)});
      values_[input.name] = std::move(h);
      continue;
    }
    const auto named = options_.names.find(input.name);
    const std::string name = fresh_name(named == options_.names.end() ? input.name : named->second);
    const bool turns = h.dims.size() >= 3 && wants_last(input.name);
    const Shape file = graph_shape(h.dims);
    Shape shape = file;
    if (turns)
      for (std::size_t a = 0; a < h.dims.size(); ++a) shape[a] = file[to_last(file.rank())[a]];
    (turns ? h.last : h.plain) = graph_.input(name, shape);
    inputs_.push_back({input.name, input.type, h.dims, turns, turns ? h.last : h.plain});
    values_[input.name] = std::move(h);
  }
}

// Before version 7, the second operand of arithmetic began at a named axis of the first: it gets trailing axes of 1.
OnnxNode Importer::with_trailing_axes(const OnnxNode& node) {
  OnnxNode same = node;
  if (node.in.size() != 2 || node.integer("broadcast", 0) == 0 || !node.has("axis")) return same;
  const Dims& a = value(node.in[0]).dims;
  Held b = value(node.in[1]);
  const auto missing =
      static_cast<std::int64_t>(a.size() - b.dims.size()) - axis(node.integer("axis", 0), std::ssize(a));
  if (missing <= 0) return same;
  node_ = &node;
  if (b.constant()) b.known = std::make_shared<const Array>(numbers(1));
  const ValueId before = b.constant() ? ValueId() : plain(1);
  b.dims.insert(b.dims.end(), missing, 1);
  if (b.known) {
    Array longer = *b.known;
    longer.dims = b.dims;
    b.known = std::make_shared<const Array>(std::move(longer));
    b.stored = nullptr;
  } else {
    b.plain = add(fmt::format("reshape(whole=[{}])", fmt::join(b.dims, ", ")), before);
    b.last = {};
  }
  same.in[1] += " with axes behind";
  values_[same.in[1]] = std::move(b);
  return same;
}

void Importer::translate() {
  const Function* function = find_function(node_->op);
  const ImportRule* rule = find_rule(node_->op);
  if (node_->op == "Constant") {
    const auto stored = node_->attributes.find("value");
    Array array{Type::float32};
    if (stored != node_->attributes.end() && stored->second.tensor) array = stored->second.tensor->array();
    else if (node_->has("value_float")) array.values = {node_->number("value_float", 0)};
    else if (node_->has("value_floats"))
      array.values = node_->numbers("value_floats", {}), array.dims = {std::ssize(array.values)};
    else if (node_->has("value_int"))
      array.type = Type::int64, array.values = {static_cast<double>(node_->attributes.at("value_int").integer)};
    else if (node_->has("value_ints")) {
      const auto& list = node_->attributes.at("value_ints").integers;
      array = {Type::int64, {std::ssize(list)}, {list.begin(), list.end()}};
    } else {
      fail("has no number, list or tensor as its value");
    }
    return give_known(0, std::move(array), "");
  }
  if (function && (node_->op == "Shape" || node_->op == "Size")) return fold_dims(*function);
  if (function && fold(*function)) return;
  try {
    if (rule && rule->apply(*this)) return;
  } catch (const NeedsValue&) {
    if (options_.may_ask || !function) throw;
  }
  if (!function) fail("this use of {} is not supported", node_->op);
  add_function(*function);
}

Binding Importer::binding(const Interface& interface) {
  const Held& h = values_.at(interface.name);
  Binding b{interface.name, h.type, h.dims, h.last && !h.plain, h.plain ? h.plain : h.last};
  if (h.constant()) {
    OnnxNode reader{"", "", "", {interface.name}, {}, {}};
    node_ = &reader;
    b.constant = numbers(0);
    b.id = {};
    b.channels_last = false;
    node_ = nullptr;
    return b;
  }
  // Outputs of a plan must be computed, so an input that is an output passes through a node.
  if (graph_.value(b.id).role != graph::GraphValue::Role::activation)
    b.id = graph_.add("scale(by=1)", b.id, fresh_name(interface.name));
  graph_.output(interface.name, b.id);
  return b;
}

Imported Importer::run() {
  declare_inputs();
  const std::set<const OnnxNode*> wanted_nodes = needed(model_);
  for (const OnnxNode& node : model_.nodes) {
    if (!wanted_nodes.contains(&node)) continue;
    node_ = &node;
    const auto version = model_.versions.find(node.domain);
    version_ = version == model_.versions.end() ? 1 : version->second;
    try {
      OnnxNode arithmetic;
      if (version_ < 7 && node.has("axis") && node.has("broadcast")) {
        arithmetic = with_trailing_axes(node);
        node_ = &arithmetic;
      }
      translate();
      node_ = &node;
    } catch (const NeedsValue& e) {
      const std::string value = has(e.input) ? node.in[e.input] : "";
      throw NeedsInput(fmt::format("{} '{}' needs the numbers of '{}' to plan its shapes, and they depend on an input",
                                   node.op, node.name, value),
                       value);
    } catch (const NeedsInput&) {
      throw;
    } catch (const Error& e) {
      fail("{} '{}': {}", node.op, node.name, e.what());
    }
    for (const std::string& name : node.out)
      if (!name.empty() && !values_.contains(name) && (readers_.contains(name) || outputs_.contains(name)))
        fail("{} '{}' does not give its output '{}' here", node.op, node.name, name);
  }
  node_ = nullptr;
  Imported result;
  for (const Interface& output : model_.outputs) result.outputs.push_back(binding(output));
  result.inputs = std::move(inputs_);
  result.graph = std::move(graph_);
  return result;
}

Imported import_model(const OnnxModel& model, const ImportOptions& options) {
  const auto version = model.versions.find("");
  if (version != model.versions.end() && (version->second < oldest_version || version->second > newest_version))
    fail("operator set {} is not supported; valid: {} to {}", version->second, oldest_version, newest_version);
  const std::vector<std::string> unsupported = unsupported_nodes(model);
  if (!unsupported.empty())
    fail("{} not supported: {}",
         unsupported.size() == 1 ? "one node is" : fmt::format("{} nodes are", unsupported.size()),
         join(unsupported, ", "));
  return Importer(model, options).run();
}

}  // namespace isobar::onnx
