// isobar onnx: reads and writes ONNX files. `check` says whether a file can be used and, given test data, whether it
// computes the expected results; `import` shows its network and a recipe that trains it; `export` writes a trained run
// or a network of the zoo.
#include <cmath>
#include <filesystem>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "isobar/base/text.hpp"
#include "isobar/cli/applying.hpp"
#include "isobar/comm/local_comm.hpp"
#include "isobar/disk/text_file.hpp"
#include "isobar/exec/param_store.hpp"
#include "isobar/graph/plan.hpp"
#include "isobar/onnx/evaluate.hpp"
#include "isobar/onnx/export.hpp"
#include "isobar/onnx/import.hpp"
#include "isobar/run/models.hpp"
#include "isobar/run/trained.hpp"
#include "isobar/verbs/verb.hpp"
#include "isobar/zoo/network.hpp"

namespace isobar::cli {
namespace {

namespace fs = std::filesystem;

std::string described_operators(const onnx::Interface& i) {
  std::vector<std::string> dims;
  for (std::size_t a = 0; a < i.dims.size(); ++a)
    dims.push_back(i.dims[a] >= 0 ? std::to_string(i.dims[a]) : i.symbols[a].empty() ? "?" : i.symbols[a]);
  return fmt::format("{} {} [{}]", i.name, onnx::type_name(i.type), join(dims, ", "));
}

std::string described_operators(const std::vector<onnx::Interface>& list) {
  std::vector<std::string> texts;
  for (const auto& i : list) texts.push_back(described_operators(i));
  return join(texts, "; ");
}

void show(const std::string& file, const onnx::OnnxModel& model, const onnx::Imported& imported) {
  const auto version = model.versions.find("");
  fmt::print("{}: {} nodes of operator set {}, {} parameters{}\n", file,
             with_commas(static_cast<std::int64_t>(model.nodes.size())),
             version == model.versions.end() ? 1 : version->second, with_commas(imported.graph.parameter_count()),
             model.producer.empty() ? "" : ", made by " + model.producer);
  fmt::print("  inputs:  {}\n  outputs: {}\n", described_operators(model.inputs), described_operators(model.outputs));
  std::set<std::string> slow;
  for (const graph::Node& node : imported.graph.nodes())
    if (node.kind.starts_with("onnx.")) slow.insert(node.kind.substr(5));
  if (!slow.empty())
    fmt::print("  run plainly, without gradient: {}\n", join(std::vector<std::string>(slow.begin(), slow.end()), ", "));
}

// The largest difference between actual and expected output, relative to the largest number.
double deviation(const onnx::Array& got, const onnx::Array& expected, const std::string& name) {
  if (got.dims != expected.dims)
    fail("output '{}' is {}, the data has {}", name, onnx::dims_text(got.dims), onnx::dims_text(expected.dims));
  double largest = 1e-30, worst = 0;
  for (std::size_t i = 0; i < got.values.size(); ++i) {
    largest = std::max(largest, std::abs(expected.values[i]));
    const double apart = std::abs(got.values[i] - expected.values[i]);
    worst = std::isnan(apart) && !(std::isnan(got.values[i]) && std::isnan(expected.values[i]))
                ? INFINITY
                : std::max(worst, apart);
  }
  return worst / largest;
}

void check_data(const onnx::OnnxModel& model, const fs::path& folder, double tolerance) {
  std::map<std::string, onnx::Array> inputs;
  for (std::size_t i = 0; i < model.inputs.size(); ++i)
    inputs[model.inputs[i].name] = onnx::read_tensor(folder / fmt::format("input_{}.pb", i));
  const std::vector<onnx::Array> got = onnx::evaluate(model, inputs);
  double worst = 0;
  for (std::size_t o = 0; o < got.size(); ++o)
    worst = std::max(
        worst, deviation(got[o], onnx::read_tensor(folder / fmt::format("output_{}.pb", o)), model.outputs[o].name));
  if (!(worst <= tolerance))
    fail("{}: results differ by {:.2g} of the largest number; at most {:.2g} is allowed", folder.string(), worst,
         tolerance);
  fmt::print("  {}: results agree to {:.1g}\n", folder.string(), worst);
}

struct CheckRequest {
  std::string file, data;
  double tolerance = 1e-3;
};

void check(const CheckRequest& request) {
  const onnx::OnnxModel model = onnx::read_model(request.file);
  show(request.file, model, onnx::import_model(model));
  if (request.data.empty()) return;
  std::vector<fs::path> sets;
  if (fs::exists(fs::path(request.data) / "input_0.pb")) sets.emplace_back(request.data);
  for (int i = 0; fs::exists(fs::path(request.data) / fmt::format("test_data_set_{}", i)); ++i)
    sets.push_back(fs::path(request.data) / fmt::format("test_data_set_{}", i));
  if (sets.empty()) fail("{} has neither input_0.pb nor folders test_data_set_0, ...", request.data);
  for (const fs::path& set : sets) check_data(model, set, request.tolerance);
}

struct ImportRequest {
  std::string file, out;
  std::int64_t batch = 1;
};

std::string starter_recipe(const std::string& file, const onnx::Imported& imported) {
  std::vector<std::int64_t> sample;
  if (!imported.inputs.empty()) {
    const auto& extents = imported.graph.value(imported.inputs[0].id).shape.extents();
    sample.assign(extents.begin() + 1, extents.end());
  }
  return fmt::format(
      "# Trains {0} from its weights; fresh = true starts from new weights. A sample is {1}, channels last.\n"
      "loss = \"softmax_cross_entropy\"\n"
      "optimizer = \"sgd(lr=0.001, momentum=0.9)\"\n\n"
      "[model]\nonnx = \"{0}\"\n\n"
      "[data]\ntrain = \"hdf5(path=train)\"\ntest = \"hdf5(path=test)\"\nbatch = 32\n\n"
      "[train]\nepochs = 10\n",
      file, Shape(sample).str());
}

void import(const ImportRequest& request) {
  const onnx::OnnxModel model = onnx::read_model(request.file);
  const onnx::Imported imported = onnx::import_model(model, {.batch = request.batch});
  show(request.file, model, imported);
  fmt::print("\n{}", graph::make_plan(imported.graph, {.phase = ops::Phase::inference}).table());
  const std::string recipe = starter_recipe(request.file, imported);
  if (request.out.empty()) {
    fmt::print("\nA recipe to start from:\n\n{}", recipe);
  } else {
    disk::write_text(request.out, recipe);
    fmt::print("\nwrote {}: name your data in it, then: isobar train {}\n", request.out, request.out);
  }
}

struct ExportRequest {
  std::string what, out, checkpoint = "newest";
  std::uint64_t seed = 1;
};

void export_to(const ExportRequest& request) {
  graph::Graph graph;
  const auto store_for = [&] { return exec::ParamStore(graph::make_plan(graph, {.phase = ops::Phase::inference}), 0); };
  std::optional<exec::ParamStore> store;
  if (fs::is_directory(request.what)) {
    const run::Trained trained = run::find_run(request.what, *comm::alone(), request.checkpoint == "best");
    if (run::predicts_by_mean(trained))
      fail("{}: its ranks have trained a network each, whose predictions are averaged; an ONNX file holds one network",
           request.what);
    graph = trained.model.graph(1);
    checkpoint::restore_weights(trained.checkpoint->read_weights(), store.emplace(store_for()));
  } else {
    zoo::make_network(request.what)->build(graph, 1);
    store.emplace(store_for()).initialize(request.seed);
  }
  const auto weights = [&](const std::string& name) {
    const int p = store->find(name);
    std::vector<float> values(static_cast<std::size_t>(store->parameter(p).declared.shape.count()));
    store->read_plain(p, store->weight(p), values);
    return values;
  };
  const onnx::OnnxModel model = onnx::export_graph(graph, {"prediction"}, weights);
  onnx::write_model(model, request.out);
  fmt::print("wrote {}: {} nodes, {} parameters, inputs {}, outputs {}\n", request.out,
             with_commas(static_cast<std::int64_t>(model.nodes.size())), with_commas(graph.parameter_count()),
             described_operators(model.inputs), described_operators(model.outputs));
}

void declare_onnx(CLI::App& command) {
  command.require_subcommand(1);
  {
    CLI::App& sub = *command.add_subcommand("check", "read a file, say what it is, and run it on its test data");
    const auto request = std::make_shared<CheckRequest>();
    sub.add_option("FILE", request->file, "an ONNX file")->required();
    sub.add_option("--data", request->data, "a folder with input_0.pb, output_0.pb, or with test_data_set_0, ...")
        ->type_name("DIR");
    sub.add_option("--tolerance", request->tolerance, "largest difference, relative to the largest number")
        ->capture_default_str();
    sub.callback([request] { check(*request); });
  }
  {
    CLI::App& sub = *command.add_subcommand("import", "show the network inside a file and the recipe that trains it");
    const auto request = std::make_shared<ImportRequest>();
    sub.add_option("FILE", request->file, "an ONNX file")->required();
    sub.add_option("--batch", request->batch, "samples in a step")
        ->capture_default_str()
        ->type_name("N")
        ->check(CLI::Range(1, 1 << 20).description(""));
    sub.add_option("--out", request->out, "write the recipe here")->type_name("FILE");
    sub.callback([request] { import(*request); });
  }
  {
    CLI::App& sub = *command.add_subcommand("export", "write a trained run, or a network of the zoo, as an ONNX file");
    const auto request = std::make_shared<ExportRequest>();
    sub.add_option("WHAT", request->what, "a run folder, or a network with arguments, such as 'cosmoflow(size=32)'")
        ->required();
    sub.add_option("--out", request->out, "the file to write")->required()->type_name("FILE");
    add_checkpoint_option(sub, request->checkpoint);
    sub.add_option("--seed", request->seed, "of the weights, for a network that was not trained")
        ->capture_default_str()
        ->type_name("N");
    sub.callback([request] { export_to(*request); });
  }
}

}  // namespace

extern const Verb onnx_verb{"onnx", "check, import and export ONNX files", declare_onnx};

}  // namespace isobar::cli
