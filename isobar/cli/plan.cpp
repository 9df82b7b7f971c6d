// isobar plan: what training or using a network will do, step by step, without doing it. With --tune it measures the
// convolutions and remembers what was fastest.
#include <algorithm>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "isobar/base/bytes.hpp"
#include "isobar/base/clock.hpp"
#include "isobar/base/config.hpp"
#include "isobar/base/text.hpp"
#include "isobar/graph/plan_messages.hpp"
#include "isobar/graph/recompute.hpp"
#include "isobar/ops/conv_pieces.hpp"
#include "isobar/optim/optimizer.hpp"
#include "isobar/run/models.hpp"
#include "isobar/run/placed_ranks.hpp"
#include "isobar/tune/planner.hpp"
#include "isobar/tune/remembered.hpp"
#include "isobar/verbs/verb.hpp"
#include "isobar/zoo/network.hpp"

namespace isobar::cli {
namespace {

struct TuneRequest {
  std::string workspace = "256MB";
  bool inexact = false;
};

// Shows progress: on a terminal in one line that is redrawn, elsewhere in an occasional line.
class Progress {
 public:
  explicit Progress(std::size_t layers) : layers_(layers) {}

  void layer(std::size_t number, const std::string& name, double work_done, double work_left) {
    const double spent = now_seconds() - begin_;
    const std::string left = work_done > 0 && spent > 2
                                 ? fmt::format(", about {:.0f} s left", spent / work_done * work_left)
                                 : std::string();
    if (terminal_) {
      fmt::print(stderr, "\r\033[Ktuning layer {} of {}: {}{}", number, layers_, one_line(name, 60), left);
      std::fflush(stderr);
    } else if (number == 1 || now_seconds() - said_ > 10) {
      said_ = now_seconds();
      fmt::print(stderr, "tuning layer {} of {}: {}{}\n", number, layers_, one_line(name, 60), left);
    }
  }
  ~Progress() {
    if (terminal_) fmt::print(stderr, "\r\033[K");
  }

 private:
  std::size_t layers_;
  bool terminal_ = isatty(STDERR_FILENO) != 0;
  double begin_ = now_seconds(), said_ = 0;
};

void show(const tune::TuningRecord& record) {
  fmt::print("{:<24} {:<16} {:<28} {:>9} {:>9} {:>11}\n", "layer", "direction", "chosen", "now ms", "before ms",
             "workspace");
  double now = 0, before = 0;
  for (const tune::Finding& f : record.findings) {
    now += f.seconds;
    before += f.before;
    fmt::print("{:<24} {:<16} {:<28} {:>9.3f} {:>9.3f} {:>11}\n", one_line(f.chosen.node, 24),
               direction_name(f.chosen.direction),
               (f.usual ? "= " : "") + one_line(choice_text(f.chosen.choice), f.usual ? 26 : 28), 1e3 * f.seconds,
               1e3 * f.before, f.workspace ? human_bytes(static_cast<double>(f.workspace)) : "");
  }
  fmt::print("\nconvolutions: {:.1f} ms per step, {:.1f} ms without tuning; = marks the usual method\n", 1e3 * now,
             1e3 * before);
}

// Results from an earlier, interrupted tuning with the same settings.
tune::TuningRecord begun(const tune::TuningCache& cache, const tune::TuneOptions& options) {
  tune::TuningRecord fresh{options.workspace, options.inexact};
  const auto known = tune::read_tuning(cache).record;
  if (!known || known->complete || known->workspace != options.workspace || known->inexact != options.inexact)
    return fresh;
  return *known;
}

// Shows progress, then what was chosen. If it is stopped, measurements so far are kept, and the next call continues.
void tune_network(const Spec& model, std::int64_t batch, const graph::Graph& graph, const graph::PlanOptions& options,
                  const TuneRequest& request) {
  if (options.phase != ops::Phase::training) fail_usage("--tune measures training: leave --phase out");
  tune::TuneOptions how;
  how.workspace = read_bytes(request.workspace, "--workspace");
  how.inexact = request.inexact;
  const tune::TuningCache cache = tune::cache_of(model, batch);
  const std::vector<tune::Layer> layers = tune::convolutions(graph, options);
  if (layers.empty()) fail("{} has no convolutions to tune", model.str());
  tune::TuningRecord record = begun(cache, how);
  const auto measured = [&](const tune::Layer& layer) {
    return std::ranges::any_of(record.findings, [&](const auto& f) { return f.chosen.node == layer.node; });
  };
  const auto work = [](const tune::Layer& layer) {
    return layer.problem.flops * static_cast<double>(layer.directions.size());
  };
  double left = 0, done = 0;
  for (const tune::Layer& layer : layers) left += measured(layer) ? 0 : work(layer);
  catch_signals();
  tune::Planner planner(how);
  {
    Progress progress(layers.size());
    for (std::size_t i = 0; i < layers.size(); ++i) {
      if (measured(layers[i])) continue;
      progress.layer(i + 1, layers[i].node, done, left);
      const auto findings = planner.tune(layers[i], &stop_requested());
      if (stop_requested()) break;
      record.findings.insert(record.findings.end(), findings.begin(), findings.end());
      write_tuning(cache, record);
      done += work(layers[i]);
      left -= work(layers[i]);
    }
  }
  record.complete = !stop_requested();
  write_tuning(cache, record);
  fmt::print("{}, batch {}: {}\n\n", model.str(), batch, cache.key);
  show(record);
  if (record.complete) fmt::print("remembered in {}\n", cache.file.empty() ? "no file" : cache.file.string());
  else fmt::print(stderr, "isobar: stopped; what was measured is kept, the same command continues\n");
}

struct PlanRequest {
  std::string model;
  int ranks = 0, per_node = 1, part = 0;
  std::vector<std::string> settings;
  std::int64_t batch = 1;
  std::string phase = "training";
  std::vector<std::string> without;
  std::string memory;
  std::string optimizer = "adam", split = "none", strategy = "sync";
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
    if (step.talk) steps.back()["talk"] = talk_text(plan, s);
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

// Leaves the part of one rank, and says which: ", part 1 of 4: depth 64-127 of 256".
std::string cut(graph::Graph& graph, const PlanRequest& request) {
  const auto split = make(split::splits(), request.split, "split");
  if (request.part >= split->ways())
    fail_usage("--part {}: split '{}' makes {} parts; valid: 0 to {}", request.part, request.split, split->ways(),
               split->ways() - 1);
  split::ModelPart part = split->cut(std::move(graph), request.part);
  graph = std::move(part.graph);
  return fmt::format(", part {} of {}: {}", request.part, split->ways(), part.text);
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
  std::string part;
  if (Spec(request.split).name() != "none") part = cut(graph, request);
  if (request.tune) return tune_network(resolved, request.batch, graph, options, request.tuning);
  if (!request.untuned && part.empty()) options.tuning = tune::known_tuning(resolved, request.batch);
  const graph::Plan plan = graph::make_plan(graph, options);
  if (request.json) {
    fmt::print("{}\n", as_json(plan, resolved, request, options.tuning ? options.tuning->all().size() : 0).dump(2));
    return;
  }
  fmt::print("{}, batch {}, {}{}\n\n{}", resolved.str(), request.batch, request.phase, part, plan.table());
  if (options.tuning)
    fmt::print("tuned: {} kernels of convolutions as measured on this machine\n", options.tuning->all().size());
  if (options.memory_limit > 0) fmt::print("{}", graph::memory_text(plan, options.memory_limit));
}

run::PlacedRanks placed_network(const PlanRequest& request) {
  if (!request.settings.empty()) fail_usage("--set changes a recipe; '{}' is a network", request.model);
  run::BareNetwork bare{
      .batch = request.batch, .optimizer = request.optimizer, .split = request.split, .strategy = request.strategy};
  if (!request.memory.empty()) bare.memory_limit = read_bytes(request.memory, "--memory");
  const std::shared_ptr<zoo::Network> network = zoo::make_network(request.model);
  bare.graph = [network](std::int64_t batch) { return zoo::training_graph(*network, batch); };
  return run::place_ranks(bare, request.ranks, request.per_node);
}

run::PlacedRanks placed_recipe(const PlanRequest& request) {
  if (request.split != "none" || request.strategy != "sync")
    fail_usage("a recipe names split and strategy itself: --set parallel.split='{}' changes it", request.split);
  const std::filesystem::path file = request.model;
  Spec recipe = read_recipe(file);
  for (const std::string& setting : request.settings) apply_setting(recipe, setting);
  return run::place_ranks(run::read_job(recipe, file.stem().string()), request.ranks, request.per_node);
}

void show_ranks(const PlanRequest& request) {
  const bool is_recipe = request.model.ends_with(".toml") || std::filesystem::exists(request.model);
  const run::PlacedRanks placed = is_recipe ? placed_recipe(request) : placed_network(request);
  fmt::print("{}\n", request.json ? to_json(placed) : describe(placed));
}

void declare_plan(CLI::App& command) {
  const auto request = std::make_shared<PlanRequest>();
  command
      .add_option("MODEL", request->model,
                  "a network, such as 'cosmoflow(size=32)' (see 'isobar zoo'); with --ranks also the file of a recipe")
      ->required();
  auto* ranks = command
                    .add_option("--ranks", request->ranks,
                                "show what each of so many ranks does, holds and sends, without starting any")
                    ->type_name("N")
                    ->check(CLI::Range(1, 1 << 20).description(""));
  command.add_option("--per-node", request->per_node, "how many of these ranks share a node")
      ->capture_default_str()
      ->type_name("N")
      ->check(CLI::Range(1, 1 << 20).description(""))
      ->needs(ranks);
  auto* split =
      command.add_option("--split", request->split, "how a network is cut over ranks; a recipe says so itself")
          ->capture_default_str()
          ->type_name("SPEC");
  command
      .add_option("--part", request->part, "without --ranks: the part of a network that is cut whose steps are shown")
      ->capture_default_str()
      ->type_name("N")
      ->check(CLI::Range(0, 1 << 20).description(""))
      ->needs(split)
      ->excludes(ranks);
  command
      .add_option("--strategy", request->strategy, "how these ranks keep a network consistent; a recipe says so itself")
      ->capture_default_str()
      ->type_name("SPEC")
      ->needs(ranks);
  command.add_option("--set", request->settings, "change a key of the recipe; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false)
      ->needs(ranks);
  command.add_option("--batch", request->batch, "samples in a step, on all ranks together")
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
  command.callback([request] { request->ranks > 0 ? show_ranks(*request) : show_plan(*request); });
}

}  // namespace

extern const Verb plan_verb{"plan", "show the steps, work and memory of a network without running it", declare_plan};

}  // namespace isobar::cli
