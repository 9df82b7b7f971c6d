// isobar plan: what training or using a network will do, step by step, without doing it.
#include "isobar/graph/plan.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "isobar/base/bytes.hpp"
#include "isobar/base/text.hpp"
#include "isobar/cli/plan_tune.hpp"
#include "isobar/graph/recompute.hpp"
#include "isobar/optim/optimizer.hpp"
#include "isobar/tune/remembered.hpp"
#include "isobar/verbs/verb.hpp"
#include "isobar/zoo/network.hpp"

namespace isobar::cli {
namespace {

struct PlanRequest {
  std::string model;
  std::int64_t batch = 1;
  std::string phase = "training";
  std::vector<std::string> without;
  std::string memory;
  std::string optimizer = "adam";
  bool json = false;
  bool tune = false, untuned = false;
  TuneRequest tuning;
};

nlohmann::ordered_json as_json(const graph::Plan& plan, const Spec& model, const PlanRequest& request,
                               std::size_t tuned) {
  nlohmann::ordered_json steps = nlohmann::ordered_json::array();
  for (const graph::StepId s : plan.steps.ids()) {
    const graph::PlanStep& step = plan.steps[s];
    steps.push_back({{"name", step.name},
                     {"kernel", step.kernel},
                     {"pass", plan.is_forward(s) ? "forward" : "backward"},
                     {"category", category_name(step.category)},
                     {"shape", step.shape.extents()},
                     {"flops", step.flops},
                     {"again_flops", step.again_flops},
                     {"bytes", step.bytes}});
  }
  return {{"model", model.str()},
          {"batch", request.batch},
          {"phase", request.phase},
          {"parameters", plan.parameter_count()},
          {"flops", plan.flops()},
          {"arena_bytes", plan.arena_bytes},
          {"memory_bytes", plan.memory_bytes()},
          {"tuned", tuned},
          {"again_steps", plan.again_steps()},
          {"again_flops", plan.again_flops()},
          {"fingerprint", fmt::format("{:016x}", plan.fingerprint())},
          {"steps", steps}};
}

void show_plan(const PlanRequest& request) {
  Spec resolved;
  const auto network = zoo::make_network(request.model, &resolved);
  graph::PlanOptions options;
  options.without = request.without;
  if (!request.memory.empty()) options.memory_limit = read_bytes(request.memory, "--memory");
  graph::Graph graph;
  if (request.phase == "training") {
    graph = zoo::training_graph(*network, request.batch);
    options.weight_copies = 2 + make(optim::optimizers(), request.optimizer, "optimizer")->slots();
  } else {
    options.phase = ops::Phase::inference;
    options.weight_copies = 1;
    network->build(graph, request.batch);
  }
  if (request.tune) return tune_network(resolved, request.batch, graph, options, request.tuning);
  if (!request.untuned) options.tuning = tune::known_tuning(resolved, request.batch);
  const graph::Plan plan = graph::make_plan(graph, options);
  if (request.json) {
    fmt::print("{}\n", as_json(plan, resolved, request, options.tuning ? options.tuning->all().size() : 0).dump(2));
    return;
  }
  fmt::print("{}, batch {}, {}\n\n{}", resolved.str(), request.batch, request.phase, plan.table());
  if (options.tuning)
    fmt::print("tuned: {} kernels of convolutions as measured on this machine\n", options.tuning->all().size());
  if (options.memory_limit > 0) fmt::print("{}", graph::memory_text(plan, options.memory_limit));
}

void declare_plan(CLI::App& command) {
  const auto request = std::make_shared<PlanRequest>();
  command.add_option("MODEL", request->model, "a network, such as 'cosmoflow(size=32)'; see 'isobar zoo'")->required();
  command.add_option("--batch", request->batch, "samples in a step")
      ->capture_default_str()
      ->type_name("N")
      ->check(CLI::Range(1, 1 << 20).description(""));
  command.add_option("--phase", request->phase, "what the network is to do")
      ->capture_default_str()
      ->check(CLI::IsMember({"training", "inference"}));
  command
      .add_option("--without", request->without, "a graph pass to leave out; may be repeated; see 'isobar list passes'")
      ->type_name("PASS")
      ->allow_extra_args(false);
  command
      .add_option("--memory", request->memory,
                  "the most the plan may take, such as 20GB: what does not fit is computed again in the backward pass")
      ->type_name("SIZE");
  command.add_option("--optimizer", request->optimizer, "whose state counts as memory")
      ->capture_default_str()
      ->type_name("SPEC");
  auto* json = command.add_flag("--json", request->json, "print JSON instead of a table");
  auto* tune = command.add_flag("--tune", request->tune,
                                "measure how every convolution is computed fastest, and remember it for this machine");
  command
      .add_option("--workspace", request->tuning.workspace,
                  "the most a kernel may use besides what it reads and writes")
      ->capture_default_str()
      ->type_name("SIZE")
      ->needs(tune);
  command.add_flag("--allow-inexact", request->tuning.inexact, "also try methods that round otherwise: winograd, fft")
      ->needs(tune);
  command.add_flag("--untuned", request->untuned, "ignore earlier measurements")->excludes(tune);
  tune->excludes(json);
  command.callback([request] { show_plan(*request); });
}

}  // namespace

extern const Verb plan_verb{"plan", "show the steps, work and memory of a network without running it", declare_plan};

}  // namespace isobar::cli
