// isobar eval WHAT [--data DATA] [--metrics LIST]: loss and metrics of a trained network on a data set.
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "isobar/base/text.hpp"
#include "isobar/cli/applying.hpp"
#include "isobar/disk/text_file.hpp"
#include "isobar/verbs/verb.hpp"

namespace isobar::cli {
namespace {

struct EvalOptions {
  InferenceRequest request;
  std::vector<std::string> metrics;
  std::string json;
};

// Splits "accuracy, top_k(k=5)"; commas within brackets do not separate.
std::vector<std::string> split_specs(const std::vector<std::string>& lists) {
  std::vector<std::string> specs;
  for (const std::string& list : lists) {
    int depth = 0;
    std::string word;
    const auto end = [&] {
      const std::size_t first = word.find_first_not_of(' '), last = word.find_last_not_of(' ');
      if (first != std::string::npos) specs.push_back(word.substr(first, last + 1 - first));
      word.clear();
    };
    for (const char c : list) {
      depth += (c == '(' || c == '[') - (c == ')' || c == ']');
      if (c == ',' && depth == 0) end();
      else word += c;
    }
    end();
  }
  return specs;
}

std::string as_json(const run::Inference& inference, const train::Evaluated& evaluated, int ranks) {
  const run::Trained& trained = inference.trained();
  nlohmann::ordered_json record{{"model", trained.name},
                                {"data", inference.data_name()},
                                {"samples", inference.data()->size()},
                                {"skipped", evaluated.skipped},
                                {"ranks", ranks}};
  if (trained.is_run()) {
    record["step"] = trained.position.step;
    record["epoch"] = trained.position.epoch;
  }
  record["results"] = evaluated.results;
  return record.dump(2) + "\n";
}

void evaluate(const EvalOptions& options) {
  const auto work = [&](run::Inference& inference, comm::Comm& comm) {
    const bool shows = comm.rank() == 0;
    if (shows && !options.request.quiet) fmt::print("{}", described(inference));
    const train::Evaluated evaluated = inference.evaluate(&stop_requested());
    if (!evaluated.complete) {
      stop_requested() = true;  // another rank may have received the signal
      if (shows) fmt::print(stderr, "isobar: stopped before all samples were seen: there is no result\n");
      return;
    }
    if (!shows) return;
    std::size_t width = 0;
    for (const auto& [name, value] : evaluated.results) width = std::max(width, name.size());
    if (evaluated.skipped > 0) fmt::print("  {} bad samples left out\n", with_commas(evaluated.skipped));
    for (const auto& [name, value] : evaluated.results) fmt::print("  {:<{}}  {:.6g}\n", name, width, value);
    if (!options.json.empty()) disk::write_text(options.json, as_json(inference, evaluated, comm.size()));
  };
  infer(
      options.request, [] {}, work);
}

void declare_eval(CLI::App& command) {
  auto options = std::make_shared<EvalOptions>();
  add_inference_options(command, options->request);
  command
      .add_option("--metrics", options->metrics,
                  "instead of the run's, such as 'accuracy, top_k(k=5)'; can be repeated; see 'isobar list metrics'")
      ->type_name("LIST")
      ->allow_extra_args(false);
  command.add_option("--json", options->json, "write the results here too, as JSON")->type_name("FILE");
  command.footer(
      "The run's transforms are applied, with what they learned from its training set. On as many ranks as the run "
      "had\n"
      "(mpirun -n N isobar eval ...) the results are the bits of its own last evaluation.");
  command.callback([options] {
    options->request.metrics = split_specs(options->metrics);
    options->request.evaluates = true;
    evaluate(*options);
  });
}

}  // namespace

extern const Verb eval_verb{"eval", "loss and metrics of a trained network on data", declare_eval};

}  // namespace isobar::cli
