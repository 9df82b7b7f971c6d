// run_facts: writes what is known about a run before its first step to run.json: where and how it runs, its size, its
// plan. What happens later is in other files.
#include <ctime>
#include <fstream>
#include <optional>

#include <nlohmann/json.hpp>

#include "isobar/disk/late_file.hpp"
#include "isobar/graph/plan_messages.hpp"
#include "isobar/record/sinks.hpp"
#include "isobar/tensor/layout.hpp"
#include "isobar/train/feeds.hpp"

namespace isobar::record {
namespace {

using OrderedJson = nlohmann::ordered_json;

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

OrderedJson pairs(const std::vector<std::pair<std::string, std::string>>& list) {
  OrderedJson all = OrderedJson::array();
  for (const auto& [name, value] : list) all.push_back(OrderedJson::array({name, value}));
  return all;
}

// Where a model is cut, its inputs are those of the whole.
OrderedJson plan_facts(const graph::Plan& plan, const std::vector<datasets::Field>& whole) {
  const auto live = graph::live_bytes(plan);
  OrderedJson steps = OrderedJson::array(), inputs = OrderedJson::array(), parameters = OrderedJson::array();
  for (const graph::StepId s : plan.steps.ids()) {
    const graph::PlanStep& step = plan.steps[s];
    steps.push_back({{"name", step.name},
                     {"kernel", step.kernel},
                     {"category", category_name(step.category)},
                     {"shape", step.shape.str()},
                     {"flops", step.flops},
                     {"bytes", step.bytes},
                     {"live_bytes", live[s]}});
    if (step.talk) steps.back()["talk"] = step.talk->phase == ops::Talk::Phase::start ? "start" : "finish";
    if (!step.final_parameters.empty()) steps.back()["final"] = plain_numbers(step.final_parameters);
  }
  // Numbers of the gradient, including padding.
  for (const graph::PlanParameter& p : plan.parameters)
    parameters.push_back({{"name", p.name},
                          {"numbers", p.layout.data.ndims == 0 ? p.declared.shape.count() : padded_count(p.layout)},
                          {"trained", p.declared.trained}});
  for (const datasets::Field& input : whole) inputs.push_back(OrderedJson::array({input.name, input.shape.str()}));
  if (whole.empty())
    for (const graph::PlanInput& input : plan.inputs)
      inputs.push_back(OrderedJson::array({input.name, train::sample_shape(input.shape).str()}));
  OrderedJson facts{{"fingerprint", fmt::format("{:016x}", plan.fingerprint())},
                    {"forward_steps", plan.forward_steps},
                    {"again_steps", plan.again_steps()},
                    {"again_flops", plan.again_flops()},
                    {"kept_arena_bytes", plan.kept_arena_bytes},
                    {"rows", plan.rows},
                    {"parameters", std::move(parameters)},
                    {"steps", std::move(steps)},
                    {"inputs", std::move(inputs)}};
  for (const graph::NodeMessages& each : graph::messages_of(plan))
    facts["messages"].push_back({{"node", each.node},
                                 {"circle", each.circle},
                                 {"partners", each.partners},
                                 {"messages", each.sent.messages},
                                 {"bytes", each.sent.bytes}});
  return facts;
}

// From the recipe's section [report]; without it nothing is known about tracing.
std::int64_t trace_steps(const Spec& recipe) {
  if (!recipe.find("report")) return 0;
  const Spec section = Args(recipe, "recipe").spec("report");
  const Value* steps = section.find("trace_steps");
  return steps && std::holds_alternative<std::int64_t>(steps->held) ? std::get<std::int64_t>(steps->held) : 0;
}

// What was written when the run began, updated with later changes; nothing if it cannot be read.
std::optional<OrderedJson> brought_up_to_date(const std::filesystem::path& file, const train::Start& start) {
  if (start.changes.empty()) return std::nullopt;
  std::ifstream in(file);
  OrderedJson facts = in ? OrderedJson::parse(in, nullptr, /*allow_exceptions=*/false) : OrderedJson();
  if (!facts.is_object() || !facts.contains("started")) return std::nullopt;
  facts["ranks"] = start.ranks;
  facts["nodes"] = start.nodes;
  facts["batching"] = start.batching;
  facts["strategy"] = start.strategy;
  facts["placement"] = start.placement;
  return facts;
}

class RunFacts final : public train::Sink {
 public:
  explicit RunFacts(Surroundings surroundings) : around_(std::move(surroundings)) {}

  void start(const train::Start& start) override {
    OrderedJson facts{{"started", utc_now()},
                      {"command", around_.command},
                      {"versions", pairs(around_.versions)},
                      {"machine", pairs(around_.machine)},
                      {"peaks",
                       {{"flops_per_second", around_.peaks.flops_per_second},
                        {"bytes_per_second", around_.peaks.bytes_per_second},
                        {"how", around_.peaks.how}}},
                      {"ranks", start.ranks},
                      {"nodes", start.nodes},
                      {"threads", start.threads},
                      {"global_batch", start.global_batch},
                      {"batching", start.batching},
                      {"strategy", start.strategy},
                      {"placement", start.placement},
                      {"parameters", start.parameters},
                      {"flops_per_sample", start.flops_per_sample},
                      {"train_samples", start.train_samples},
                      {"test_samples", start.test_samples},
                      {"epochs", start.epochs},
                      {"steps_per_epoch", start.steps_per_epoch},
                      {"first_step", start.first_step},
                      {"arena_bytes", start.arena_bytes},
                      {"weight_bytes", start.weight_bytes},
                      {"snapshot_bytes", start.snapshot_bytes},
                      {"tuned", start.tuned},
                      {"precision", "float32"},
                      {"trace_steps", trace_steps(start.recipe)}};
    if (start.validation_samples > 0) facts["validation_samples"] = start.validation_samples;
    if (start.teams > 1) facts["teams"] = start.teams;
    if (start.ways > 1) facts["ways"] = start.ways, facts["part"] = start.part;
    if (start.plan) facts["plan"] = plan_facts(*start.plan, start.inputs);
    if (auto earlier = brought_up_to_date(start.folder / "run.json", start)) facts = std::move(*earlier);
    facts["members_changed"] = OrderedJson::parse(train::to_json(start.changes));
    disk::write_late(start.folder / "run.json",
                     facts.dump(-1, ' ', false, OrderedJson::error_handler_t::replace) + "\n");
  }

 private:
  Surroundings around_;
};

}  // namespace

std::unique_ptr<train::Sink> run_facts(Surroundings surroundings) {
  return std::make_unique<RunFacts>(std::move(surroundings));
}

}  // namespace isobar::record
