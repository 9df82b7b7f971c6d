// Files for PyTorch: an OracleCase at its current weights, as an ONNX file of the network up to the inputs of the
// losses, a list of the losses, and raw numbers. tests/onnx/oracle/ reads them. Dropout is written as a product with
// its mask.
#pragma once

#include <filesystem>
#include <fstream>
#include <set>

#include <nlohmann/json.hpp>

#include "isobar/onnx/export.hpp"

#include "tests/onnx/oracle_case.hpp"
#include "tests/onnx/summary.hpp"

namespace isobar::onnx {

inline void write_raw(const std::filesystem::path& file, std::span<const float> values) {
  std::ofstream out(file, std::ios::binary);
  out.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size_bytes()));
}

inline nlohmann::ordered_json as_json(const isobar::Value& value) {
  if (const auto* b = std::get_if<bool>(&value.held)) return *b;
  if (const auto* i = std::get_if<std::int64_t>(&value.held)) return *i;
  if (const auto* d = std::get_if<double>(&value.held)) return *d;
  if (const auto* list = std::get_if<std::vector<isobar::Value>>(&value.held)) {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const auto& v : *list) all.push_back(as_json(v));
    return all;
  }
  return std::get<std::shared_ptr<const Spec>>(value.held)->name();
}

/// The factors of a dropout, from its definition: element i of a row uses number i of the generator keyed by seed,
/// site, epoch and sample.
inline std::vector<float> dropout_mask(const std::string& node, const Shape& shape, double rate, const exec::Run& run) {
  std::vector<float> mask;
  const std::int64_t length = shape.count(1, shape.rank());
  const std::uint64_t key = mix(mix(run.seed, hash_text(node)), static_cast<std::uint64_t>(run.epoch));
  for (const std::int64_t sample : run.samples)
    for (std::int64_t i = 0; i < length; ++i) {
      const auto block = Random(key, static_cast<std::uint64_t>(sample)).block(static_cast<std::uint64_t>(i / 4));
      const bool kept = block[i % 4] >= static_cast<std::uint32_t>(std::ldexp(rate, 32));
      mask.push_back(kept ? static_cast<float>(1 / (1 - rate)) : 0.0f);
    }
  return mask;
}

/// The same graph with the masks of its dropouts as untrained weights, which are added to `masks` by name.
inline graph::Graph with_masks(const OracleCase& from, std::map<std::string, std::vector<float>>& masks) {
  graph::Graph g;
  const graph::Graph& old = from.graph();
  IdVector<graph::ValueId, graph::ValueId> now(old.values().size());
  for (const graph::ValueId id : now.ids()) {
    const graph::GraphValue& v = old.value(id);
    if (v.role == graph::GraphValue::Role::input) now[id] = g.input(v.name, v.shape);
    if (v.role == graph::GraphValue::Role::parameter) now[id] = g.parameter(v.name, v.parameter);
  }
  for (const graph::Node& node : old.nodes()) {
    std::vector<graph::ValueId> in;
    for (const graph::ValueId id : node.in) in.push_back(now[id]);
    if (node.kind == "dropout") {
      const Shape& shape = old.value(node.in[0]).shape;
      const std::string name = node.name + ".mask";
      masks[name] = dropout_mask(node.name, shape, Args(node.spec, "operator").real("rate", 0.5), from.run());
      ops::Parameter mask{"mask", shape};
      mask.trained = false;
      in.push_back(g.parameter(name, mask));
      g.add("mul", in, node.name);
    } else {
      g.add_node(node.name, node.kind, node.op, in, node.spec);
    }
    for (std::size_t i = 0; i < node.out.size(); ++i) now[node.out[i]] = g.nodes().back().out[i];
  }
  for (const auto& [name, id] : old.outputs()) g.output(name, now[id]);
  return g;
}

/// Summaries of what determines loss and gradients: the inputs, and all weights concatenated.
inline nlohmann::ordered_json given(OracleCase& from) {
  nlohmann::ordered_json all;
  for (const auto& [name, values] : from.inputs()) all[name] = summary(values);
  std::vector<float> weights;
  for (int p = 0; p < from.store().count(); ++p) {
    const std::vector<float> values = from.plain(p, from.store().weight(p));
    weights.insert(weights.end(), values.begin(), values.end());
  }
  all["weights"] = summary(weights);
  return all;
}

/// Writes the case into a new folder, with our own loss, outputs and gradients beside it.
inline void write_case(const std::filesystem::path& folder, OracleCase& from, const std::string& spec) {
  using nlohmann::ordered_json;
  std::filesystem::create_directories(folder);
  std::map<std::string, std::vector<float>> weights;
  for (int p = 0; p < from.store().count(); ++p)
    weights[from.store().parameter(p).name] = from.plain(p, from.store().weight(p));
  ordered_json description{{"spec", spec}, {"given", given(from)}, {"value", from.backward()}};
  graph::Graph graph = with_masks(from, weights);
  const auto own_nodes = graph.nodes().ids();

  std::set<graph::ValueId> losses;  // values computed by losses or from losses
  std::vector<std::string> outputs;
  std::map<graph::ValueId, std::string> taps;
  const auto tap = [&](graph::ValueId id) {
    std::string& name = taps[id];
    if (!name.empty()) return name;
    if (losses.contains(id)) return name = graph.value(id).name;
    if (graph.value(id).role == graph::GraphValue::Role::input) return name = "given " + graph.value(id).name;
    name = fmt::format("tap {}", taps.size());  // a view keeps the axes of the graph in the file
    const auto extents = fmt::format("reshape(whole=[{}])", fmt::join(graph.value(id).shape.extents(), ", "));
    graph.output(name, graph.add(extents, id, "view for " + name));
    outputs.push_back(name);
    return name;
  };
  description["loss"] = description["frozen"] = ordered_json::array();
  for (const graph::NodeId n : own_nodes) {
    const graph::Node node = graph.node(n);
    if (node.kind == "batch_norm" && Args(node.spec, "operator").flag("frozen", false))
      description["frozen"].push_back(node.name);
    const bool from_loss =
        std::any_of(node.in.begin(), node.in.end(), [&](graph::ValueId id) { return losses.contains(id); });
    if (!node.op->is_loss() && !from_loss) continue;
    losses.insert(node.out[0]);
    ordered_json names = ordered_json::array(), args = ordered_json::object();
    for (const graph::ValueId id : node.in) names.push_back(tap(id));
    for (const auto& [key, value] : node.spec.arguments()) args[key] = as_json(value);
    description["loss"].push_back(
        {{"kind", node.kind}, {"in", names}, {"out", graph.value(node.out[0]).name}, {"args", args}});
  }
  description["outputs"] = ordered_json::object();
  if (from.graph().outputs().contains("y") && !from.inputs().contains("y")) {
    description["outputs"]["y"] = tap(graph.find("y"));
    write_raw(folder / "output_y.raw", from.output("y"));
  }
  const OnnxModel model = export_graph(graph, outputs, [&](const std::string& name) { return weights.at(name); });
  write_model(model, folder / "model.onnx");
  for (const auto& [name, values] : from.inputs()) {
    const Shape& shape = graph.value(graph.find(name)).shape;
    Dims dims = shape.extents();
    const auto held = std::find_if(model.inputs.begin(), model.inputs.end(),
                                   [&, wanted = name](const Interface& i) { return i.name == wanted; });
    bool turned = false;
    if (held != model.inputs.end()) {
      if (held->dims[0] < 0) dims[0] = -1;
      // With equal extents, the file's dims do not show whether it is channels-first; a convolution that reads it does.
      turned = held->dims != dims ||
               (shape.rank() >= 3 && std::any_of(model.nodes.begin(), model.nodes.end(), [&](const OnnxNode& node) {
                  return node.op == "Conv" && node.in[0] == held->name;
                }));
    }
    description["inputs"][name] = {{"shape", shape.extents()}, {"turned", turned}};
    write_raw(folder / fmt::format("input_{}.raw", name), values);
  }
  for (int p = 0; p < from.store().count(); ++p) {
    const graph::PlanParameter& parameter = from.store().parameter(p);
    if (!parameter.declared.trained) continue;
    description["weights"][parameter.name] = {{"shape", parameter.declared.shape.extents()}, {"file", p}};
    write_raw(folder / fmt::format("gradient_{}.raw", p), from.plain(p, from.store().gradient(p)));
  }
  std::ofstream(folder / "case.json") << description.dump(1);
}

}  // namespace isobar::onnx
