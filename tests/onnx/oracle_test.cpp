// PyTorch as an oracle, where it is installed (Debian's python3-torch and python3-onnx): every network of the zoo,
// shrunken, with the same weights and batch, has the same loss there and the same gradient of every weight to 1e-4. The
// networks go there as ONNX files, which onnx's own checker accepts on the way.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "isobar/onnx/export.hpp"

#include "tests/temporary_folder.hpp"
#include "tests/zoo/built.hpp"
#include "tests/zoo/shrunken.hpp"
#include "tests/zoo/trial.hpp"

namespace isobar::onnx {
namespace {

namespace fs = std::filesystem;
using graph::ValueId;
using nlohmann::ordered_json;

// Normalising over a batch of two leaves only signs, and gradients that are all rounding.
constexpr std::int64_t oracle_batch = 4;

void write_raw(const fs::path& file, const std::vector<float>& values) {
  std::ofstream out(file, std::ios::binary);
  out.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(float)));
}

ordered_json as_json(const isobar::Value& value) {
  if (const auto* b = std::get_if<bool>(&value.held)) return *b;
  if (const auto* i = std::get_if<std::int64_t>(&value.held)) return *i;
  if (const auto* d = std::get_if<double>(&value.held)) return *d;
  if (const auto* list = std::get_if<std::vector<isobar::Value>>(&value.held)) {
    ordered_json all = ordered_json::array();
    for (const auto& v : *list) all.push_back(as_json(v));
    return all;
  }
  return std::get<std::shared_ptr<const Spec>>(value.held)->name();
}

// Writes one network: the part up to the losses as ONNX, the losses as a list, our numbers beside it.
void write_case(const fs::path& folder, const zoo::Shrunken& small, std::uint64_t seed) {
  fs::create_directories(folder);
  zoo::Trial trial(small.spec, oracle_batch, small.tokens);
  trial.restart(seed);
  exec::ParamStore& store = trial.store();
  std::vector<std::vector<float>> weights;
  for (int p = 0; p < store.count(); ++p) weights.push_back(trial.plain(p, store.weight(p)));
  ordered_json description{{"value", trial.backward()}};
  graph::Graph graph = trial.graph();
  const std::size_t own_nodes = graph.nodes().size();

  std::set<ValueId> losses;  // values made by losses or from them
  std::vector<std::string> outputs;
  std::map<ValueId, std::string> taps;
  ordered_json list = ordered_json::array();
  for (std::size_t n = 0; n < own_nodes; ++n) {
    const graph::Node node = graph.nodes()[n];
    const bool from_loss = std::any_of(node.in.begin(), node.in.end(), [&](ValueId id) { return losses.contains(id); });
    if (!node.op->is_loss() && !from_loss) continue;
    losses.insert(node.out[0]);
    ordered_json names = ordered_json::array(), args = ordered_json::object();
    for (const ValueId id : node.in) {
      std::string& name = taps[id];
      if (!name.empty() || losses.contains(id)) {
        if (name.empty()) name = graph.value(id).name;
      } else if (graph.value(id).role == graph::Value::Role::input) {
        name = graph.value(id).name == "x" ? "x itself" : graph.value(id).name;
      } else {  // a view keeps the axes of the graph in the file
        name = fmt::format("tap {}", taps.size());
        graph.output(name,
                     graph.add(fmt::format("reshape(whole=[{}])", fmt::join(graph.value(id).shape.extents(), ", ")), id,
                               "view for " + name));
        outputs.push_back(name);
      }
      names.push_back(name);
    }
    for (const auto& [key, value] : node.spec.arguments()) args[key] = as_json(value);
    list.push_back({{"kind", node.kind}, {"in", names}, {"out", graph.value(node.out[0]).name}, {"args", args}});
  }
  description["loss"] = list;
  const Model model = export_graph(
      graph, outputs, [&](const std::string& name) { return weights[static_cast<std::size_t>(store.find(name))]; });
  write_model(model, folder / "model.onnx");
  const Shape& x = graph.value(graph.find("x")).shape;
  Dims dims = x.extents();
  dims[0] = -1;
  // With equal extents the file's dims do not tell whether it is channels-first: a convolution reads it so.
  description["turned"] = x.rank() >= 3 && model.inputs.at(0).dims == dims &&
                          std::any_of(model.nodes.begin(), model.nodes.end(), [&](const Node& node) {
                            return node.op == "Conv" && node.in[0] == model.inputs[0].name;
                          });
  description["x"] = x.extents();
  description["y"] = graph.value(graph.find("y")).shape.extents();
  write_raw(folder / "x.raw", trial.x());
  write_raw(folder / "y.raw", trial.y());
  for (int p = 0; p < store.count(); ++p) {
    const graph::PlanParameter& parameter = store.parameter(p);
    if (!parameter.declared.trained) continue;
    description["weights"][parameter.name] = parameter.declared.shape.extents();
    description["files"][parameter.name] = p;
    write_raw(folder / fmt::format("gradient_{}.raw", p), trial.plain(p, store.gradient(p)));
  }
  std::ofstream(folder / "case.json") << description.dump(1);
}

TEST(Oracle, PyTorchHasTheSameLossAndGradients) {
  // The system's python, which is where Debian's packages are.
  const std::string python = fs::exists("/usr/bin/python3") ? "/usr/bin/python3" : "python3";
  if (std::system((python + " -c 'import torch, onnx' >/dev/null 2>&1").c_str()) != 0)
    GTEST_SKIP() << "needs the Debian packages python3-torch and python3-onnx";
  const tests::TemporaryFolder folder;
  std::size_t index = 0;
  for (const zoo::Shrunken& small : zoo::shrunken) {
    for (const std::uint64_t seed : {3, 4, 5})
      write_case(folder.path() / zoo::test_name(index, small.spec) / std::to_string(seed), small, seed);
    ++index;
  }
  const std::string script = fs::path(__FILE__).parent_path() / "oracle.py";
  const std::string command = fmt::format("{} '{}' '{}' 1e-4 2>&1", python, script, folder.path().string());
  EXPECT_EQ(std::system(command.c_str()), 0);
}

}  // namespace
}  // namespace isobar::onnx
