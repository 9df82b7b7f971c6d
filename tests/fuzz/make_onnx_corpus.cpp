// Writes the seeds of the ONNX fuzzer: one small file for the first problems of every operator, as the exporter writes
// them, and a few nodes that only functions compute. make_onnx_corpus FOLDER; run it when operators are added.
#include <filesystem>

#include "isobar/exec/param_store.hpp"
#include "isobar/onnx/export.hpp"

namespace {

using namespace isobar;
namespace fs = std::filesystem;

constexpr std::size_t most_problems = 3, most_bytes = 3000;

void write(const fs::path& file, const onnx::OnnxModel& model) {
  if (onnx::model_bytes(model).size() <= most_bytes) onnx::write_model(model, file);
}

void write_operator(const fs::path& folder, const ops::OperatorRow& row) {
  std::size_t number = 0;
  for (const ops::Problem& problem : row.problems) {
    if (number == most_problems || ops::make_operator(problem.spec)->is_loss()) return;
    graph::Graph graph;
    std::vector<graph::ValueId> in;
    for (const Shape& shape : problem.in) in.push_back(graph.input(fmt::format("x{}", in.size()), shape));
    graph.output("y", graph.add(problem.spec, in, "op"));
    exec::ParamStore store(graph::make_plan(graph, {.phase = ops::Phase::inference}), 0);
    store.initialize(1);
    try {
      write(folder / fmt::format("{}_{}.onnx", row.name, ++number),
            onnx::export_graph(graph, {"y"}, [&](const std::string& name) {
              const int p = store.find(name);
              std::vector<float> values(static_cast<std::size_t>(store.parameter(p).declared.shape.count()));
              store.read_plain(p, store.weight(p), values);
              return values;
            }));
    } catch (const Error&) {  // ONNX has no words for it
    }
  }
}

// One node with a constant list as its second input: what shape arithmetic is made of.
void write_node(const fs::path& folder, const char* op, const std::vector<double>& second) {
  onnx::OnnxModel model{.name = op, .producer = "isobar", .versions = {{"", 13}}};
  model.inputs = {{"x", onnx::Type::float32, {2, 3, 4}, {"", "", ""}, true, true}};
  model.outputs = {{"y", onnx::Type::float32}};
  model.initializers["k"] =
      onnx::stored(onnx::Array{onnx::Type::int64, {static_cast<std::int64_t>(second.size())}, second});
  model.nodes = {{op, op, "", {"x", "k"}, {"y"}, {}}};
  write(folder / fmt::format("node_{}.onnx", op), model);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  const fs::path folder = arguments[1];
  fs::create_directories(folder);
  for (const ops::OperatorRow* row : ops::operators()) write_operator(folder, *row);
  const std::pair<const char*, std::vector<double>> nodes[] = {
      {"Reshape", {2, -1}}, {"Tile", {1, 2, 1}},     {"Expand", {2, 3, 4}},   {"TopK", {2}},
      {"Unsqueeze", {0}},   {"ReduceSum", {1}},      {"CumSum", {1}},         {"GatherND", {0, 1}},
      {"OneHot", {3}},      {"Trilu", {1}},          {"ConstantOfShape", {}}, {"Shape", {}},
      {"NonZero", {}},      {"Compress", {1, 0}},    {"ArgMax", {}},          {"Einsum", {}},
      {"Split", {1, 2}},    {"GatherElements", {0}}, {"Slice", {0}},          {"Pad", {0, 0, 0, 1, 0, 0}}};
  for (const auto& [op, second] : nodes) write_node(folder, op, second);
  return 0;
}
