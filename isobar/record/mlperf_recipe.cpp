#include "isobar/record/mlperf_recipe.hpp"

#include <algorithm>
#include <cmath>

#include "isobar/base/error.hpp"

namespace isobar::record {
namespace {

using OrderedJson = nlohmann::ordered_json;
using Parameters = std::vector<std::pair<std::string, OrderedJson>>;

// A number of a Spec; a resolved recipe has all of them.
double number(const Spec& spec, std::string_view key, double otherwise) {
  return spec.find(key) ? Args(spec).real(key) : otherwise;
}

// The parts of a rate schedule: the warm-up, the scaling, and the innermost schedule.
struct Rates {
  double warmup_epochs = 0, warmup_from = 1, scale = 1;
  Spec rest = "constant";
};

Rates rates_of(const Spec& recipe, std::int64_t batch) {
  Rates rates;
  rates.rest = Args(recipe, "recipe").spec("rate", "constant");
  while (rates.rest.name() == "warmup" || rates.rest.name() == "scale") {
    const Spec outer = rates.rest;
    if (outer.name() == "warmup") {
      rates.warmup_epochs = number(outer, "epochs", 0);
      rates.warmup_from = number(outer, "from", 1);
    } else {
      const double ratio = static_cast<double>(batch) / std::max(1.0, number(outer, "base_batch", 1));
      rates.scale *= Args(outer).text("by", "linear") == "sqrt" ? std::sqrt(ratio) : ratio;
    }
    rates.rest = Args(outer).spec("then", "constant");
  }
  return rates;
}

// Epochs at which the rate drops, and its factors from there on, relative to the initial rate.
std::pair<std::vector<double>, std::vector<double>> drops(const Spec& rate, std::int64_t epochs) {
  if (rate.name() == "piecewise") return {Args(rate).reals("boundaries", {}), Args(rate).reals("factors", {})};
  std::pair<std::vector<double>, std::vector<double>> found;
  if (rate.name() != "step") return found;
  const double every = std::max(1.0, number(rate, "every", 1)), gamma = number(rate, "gamma", 1);
  for (double at = every, factor = gamma; at < static_cast<double>(epochs); at += every, factor *= gamma) {
    found.first.push_back(at);
    found.second.push_back(factor);
  }
  return found;
}

std::string optimizer_name(const std::string& name) {
  static constexpr std::pair<std::string_view, std::string_view> known[] = {
      {"adam", "Adam"}, {"adamw", "AdamW"}, {"lamb", "LAMB"}, {"lars", "LARS"}, {"sgd", "SGD"}};
  for (const auto& [ours, theirs] : known)
    if (name == ours) return std::string(theirs);
  return name;
}

void add_cosmoflow(Parameters& all, const train::Start& start, const Spec& optimizer) {
  const Rates rates = rates_of(start.recipe, start.global_batch);
  const auto [boundaries, factors] = drops(rates.rest, start.epochs);
  // The base rate of the schedule, scaled to the batch.
  all.emplace_back("opt_base_learning_rate", number(optimizer, "lr", 0) * rates.scale);
  all.emplace_back("opt_learning_rate_warmup_epochs", rates.warmup_epochs);
  all.emplace_back("opt_learning_rate_warmup_factor", rates.warmup_from);
  all.emplace_back("opt_learning_rate_decay_boundary_epochs", boundaries);
  all.emplace_back("opt_learning_rate_decay_factor", factors);
  all.emplace_back("dropout", number(Args(start.recipe, "recipe").spec("model"), "dropout", 0));
  all.emplace_back("opt_weight_decay", number(optimizer, "weight_decay", 0));
}

void add_deepcam_schedule(Parameters& all, const train::Start& start, const Rates& rates, double lr) {
  const auto steps = [&](double epochs) { return std::llround(epochs * static_cast<double>(start.steps_per_epoch)); };
  all.emplace_back("scheduler_lr_warmup_steps", steps(rates.warmup_epochs));
  // MLPerf's factor is the growth of the rate during warm-up.
  all.emplace_back("scheduler_lr_warmup_factor", rates.warmup_from > 0 ? std::max(1.0, 1 / rates.warmup_from) : 1.0);
  if (rates.rest.name() == "cosine") {
    const double epochs = number(rates.rest, "epochs", 0);
    all.emplace_back("scheduler_type", "cosine_annealing");
    all.emplace_back("scheduler_t_max", steps(epochs > 0 ? epochs : static_cast<double>(start.epochs)));
    all.emplace_back("scheduler_eta_min", lr * number(rates.rest, "end", 0));
    return;
  }
  const auto [boundaries, factors] = drops(rates.rest, start.epochs);
  const bool steady = rates.rest.name() == "constant";
  OrderedJson milestones = OrderedJson::array();
  for (const double epoch : boundaries) milestones.push_back(steps(epoch));
  all.emplace_back("scheduler_type", steady || !boundaries.empty() ? "multistep" : rates.rest.name());
  all.emplace_back("scheduler_milestones", milestones);
  all.emplace_back("scheduler_decay_rate", factors.empty() ? 1.0 : factors[0]);
}

void add_deepcam(Parameters& all, const train::Start& start, const Spec& optimizer) {
  Args train = Args(start.recipe, "recipe").section("train");
  Args data = Args(start.recipe, "recipe").section("data");
  const Rates rates = rates_of(start.recipe, start.global_batch);
  const double lr = number(optimizer, "lr", 0) * rates.scale;
  all.emplace_back("seed", Args(start.recipe, "recipe").integer("seed", 1));
  all.emplace_back("num_workers", data.integer("readers", 1));
  all.emplace_back("batchnorm_group_size", train.flag("sync_batch_norm", false) ? start.ranks : 1);
  all.emplace_back("gradient_accumulation_frequency",
                   std::max<std::int64_t>(1, train.integer("micro_batches", 0) / start.ranks));
  all.emplace_back("opt_lr", lr);
  all.emplace_back("opt_betas", OrderedJson{number(optimizer, "beta1", 0.9), number(optimizer, "beta2", 0.999)});
  all.emplace_back("opt_eps", number(optimizer, "epsilon", 0));
  all.emplace_back("opt_weight_decay", number(optimizer, "weight_decay", 0));
  if (optimizer.name() == "lamb") {
    all.emplace_back("opt_bias_correction", Args(optimizer).flag("bias_correction", true) ? 1 : 0);
    all.emplace_back("opt_grad_averaging", 1);  // ours always uses (1 - beta1) of the new gradient
    all.emplace_back("opt_max_grad_norm", train.real("clip_norm", 0));
  }
  add_deepcam_schedule(all, start, rates, lr);
}

}  // namespace

MlperfBenchmark mlperf_benchmark(const Spec& recipe) {
  MlperfBenchmark benchmark;
  if (recipe.find("model")) benchmark.name = Args(recipe, "recipe").spec("model").name();
  if (benchmark.name == "cosmoflow") benchmark = {"cosmoflow", "mae", "eval_error", 0.124, true};
  if (benchmark.name == "deepcam") benchmark = {"deepcam", "iou", "eval_accuracy", 0.82, false};
  if (benchmark.metric.empty()) return benchmark;
  const std::vector<std::string> metrics = Args(recipe, "recipe").section("train").texts("metrics", {});
  if (std::ranges::none_of(metrics, [&](const std::string& text) { return Spec(text).name() == benchmark.metric; }))
    fail_usage("report.mlperf = true: {} is judged by its {}, which train.metrics does not name", benchmark.name,
               benchmark.metric);
  return benchmark;
}

Parameters mlperf_parameters(const train::Start& start) {
  const Spec optimizer = Args(start.recipe, "recipe").spec("optimizer", "adam");
  const std::string name = mlperf_benchmark(start.recipe).name;
  Parameters all{{"global_batch_size", start.global_batch},
                 {"train_samples", start.train_samples},
                 {"eval_samples", start.test_samples},
                 {"number_of_nodes", start.nodes},
                 {"number_of_ranks", start.ranks},
                 {"accelerators_per_node", 0},
                 {"opt_name", optimizer_name(optimizer.name())}};
  if (name == "cosmoflow") {
    add_cosmoflow(all, start, optimizer);
  } else if (name == "deepcam") {
    add_deepcam(all, start, optimizer);
  } else {
    all.emplace_back("opt_base_learning_rate", number(optimizer, "lr", 0));
    all.emplace_back("opt_weight_decay", number(optimizer, "weight_decay", 0));
  }
  return all;
}

}  // namespace isobar::record
