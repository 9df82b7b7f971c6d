#include "isobar/bench/operators.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "isobar/base/error.hpp"
#include "isobar/base/random.hpp"
#include "isobar/base/text.hpp"
#include "isobar/bench/summary.hpp"
#include "isobar/graph/pass.hpp"
#include "isobar/graph/plan.hpp"
#include "isobar/ops/conv_methods.hpp"
#include "isobar/tune/compare_methods.hpp"

namespace isobar::bench {
namespace {

constexpr const char* node = "it";

// The operator, preceded by operators that make its inputs need gradients, and followed by a loss unless it is one.
graph::Graph graph_around(const ops::Problem& problem, bool training) {
  graph::Graph graph;
  std::vector<graph::ValueId> in;
  const bool loss = ops::make_operator(problem.spec)->is_loss();
  for (std::size_t i = 0; i < problem.in.size(); ++i) {
    const Shape& shape = problem.in[i];
    const bool whole = i + 1 == problem.in.size() && problem.last.low != problem.last.high;
    const bool target = loss && i > 0;  // has no gradient
    const graph::ValueId raw = graph.input(fmt::format("x{}", i), shape);
    const auto shift = [&] { return graph.parameter(fmt::format("shift{}", i), {"b", {shape[-1]}}); };
    in.push_back(whole || target || !training ? raw : graph.add("add", {raw, shift()}, fmt::format("shifted{}", i)));
  }
  const graph::ValueId made = graph.add(problem.spec, in, node);
  if (loss) {
    graph.loss(made);
    return graph;
  }
  graph.output("made", made);
  if (training) graph.loss(graph.add("mse", {made, graph.input("target", graph.value(made).shape)}, "loss"));
  return graph;
}

graph::ValueId made_by(const graph::Graph& graph) {
  for (const graph::Node& one : graph.nodes())
    if (one.name == node) return one.out.at(0);
  throw std::logic_error("a graph without the operator it is made around");
}

// Every pass is switched off, so that nothing is fused.
std::vector<std::string> all_passes() {
  std::vector<std::string> all;
  for (const graph::Pass* pass : graph::passes()) all.emplace_back(pass->name);
  return all;
}

void fill(const Tensor& tensor, double low, double high, const ops::Whole& whole, std::uint64_t key) {
  const Random random(5, key);
  for (std::int64_t i = 0; i < tensor.count(); ++i) {
    const double unit = random.uniform(i);
    tensor.data()[i] = whole.low != whole.high
                           ? static_cast<float>(whole.low + static_cast<std::int64_t>(
                                                                unit * static_cast<double>(whole.high - whole.low)))
                           : static_cast<float>(low + unit * (high - low));
  }
}

std::string shapes_text(const std::vector<Shape>& shapes) {
  std::vector<std::string> words;
  for (const Shape& shape : shapes) words.push_back(shape.str());
  return join(words, ", ");
}

// The peers that have the operator, ready to run it.
std::vector<Contestant*> knowing(const ops::Problem& problem, const std::vector<Contestant*>& peers) {
  Spec resolved;
  ops::make_operator(problem.spec, &resolved);
  nlohmann::json question{{"spec", resolved.str()}, {"low", problem.low}, {"high", problem.high}};
  for (const Shape& shape : problem.in) question["shapes"].push_back(shape.extents());
  if (problem.last.low != problem.last.high) question["last"] = {problem.last.low, problem.last.high};
  std::vector<Contestant*> able;
  for (Contestant* peer : peers)
    if (peer->ask("case " + question.dump()) == "ok") able.push_back(peer);
  return able;
}

}  // namespace

OperatorRun::OperatorRun(const ops::Problem& problem, graph::PlanOptions options) {
  options.without = all_passes();
  graph::Graph graph = graph_around(problem, true);
  graph::Plan plan;
  try {
    plan = graph::make_plan(graph, options);
  } catch (const Error&) {  // it has no gradient, or its result does not suit a loss
    graph = graph_around(problem, false);
    options.phase = ops::Phase::inference;
    plan = graph::make_plan(graph, options);
    training_ = false;
  }
  for (const graph::PlanInput& input : plan.inputs) {
    const Tensor& tensor = inputs_.emplace_back(input.shape);
    const bool last = input.name == fmt::format("x{}", problem.in.size() - 1);
    fill(tensor, problem.low, problem.high, last ? problem.last : ops::Whole{}, inputs_.size());
  }
  store_ = std::make_unique<exec::ParamStore>(plan, 0);
  store_->initialize(1);
  trace_ = std::make_unique<Trace>();
  executor_ = std::make_unique<exec::Executor>(std::move(plan), *store_, trace_.get());
  for (std::size_t i = 0; i < inputs_.size(); ++i) executor_->bind(executor_->plan().inputs[i].name, inputs_[i].span());
  // The output may have fewer rows than the inputs; the loss must not expect more.
  samples_.resize(std::min(problem.in.at(0)[0], graph.value(made_by(graph)).shape[0]));
}

// Views cost nothing and are not in the trace.
bool OperatorRun::its(const graph::PlanStep& step) const {
  return step.name == node && (step.flops > 0 || step.bytes > 0);
}

template <class Of>
double OperatorRun::sum(bool backward, const Of& of) const {
  const graph::Plan& plan = executor_->plan();
  double total = 0;
  for (const graph::StepId s : plan.steps.ids())
    if (its(plan.steps[s]) && plan.is_forward(s) != backward) total += of(plan.steps[s]);
  return total;
}

OperatorRun::Times OperatorRun::run() {
  trace_->clear();
  const exec::Run moment{.seed = 1, .samples = samples_, .rows = std::ssize(samples_)};
  executor_->forward(moment);
  const std::size_t forward_events = trace_->events().size();
  if (training_) executor_->backward(moment);
  Times times;
  for (std::size_t e = 0; e < trace_->events().size(); ++e) {
    const Event& event = trace_->events()[e];
    if (!trace_->names()[event.name].starts_with(std::string(node) + " ")) continue;
    (e < forward_events ? times.forward : times.backward) += event.seconds;
  }
  return times;
}

bool OperatorRun::computes(bool backward) const {
  return sum(backward, [](const graph::PlanStep&) { return 1.0; }) > 0;
}

bool OperatorRun::primitive(bool backward) const {
  const double all = sum(backward, [](const graph::PlanStep&) { return 1.0; });
  return all > 0 && sum(backward, [](const graph::PlanStep& step) { return step.library ? 1.0 : 0.0; }) == all;
}

double OperatorRun::flops(bool backward) const {
  return sum(backward, [](const graph::PlanStep& step) { return step.flops; });
}

double OperatorRun::bytes(bool backward) const {
  return sum(backward, [](const graph::PlanStep& step) { return step.bytes; });
}

std::vector<Record> measure_operator(const ops::Problem& problem, const OperatorContest& contest) {
  OperatorRun ours(problem), bare(problem, {.own_kernels = false});
  const std::vector<Contestant*> peers = knowing(problem, contest.peers);
  std::vector<Record> records;
  for (const bool backward : {false, true}) {
    if (!ours.computes(backward)) continue;
    const char* direction = backward ? "backward" : "forward";
    const auto part = [&](OperatorRun& run) {
      const OperatorRun::Times times = run.run();
      return backward ? times.backward : times.forward;
    };
    std::vector<Runner> runners{{"isobar", [&] { return part(ours); }}};
    for (Contestant* peer : peers)
      runners.push_back({peer->name(), [=] { return peer->numbers(std::string(direction) + " 1").at(0); }});
    if (bare.primitive(backward)) runners.push_back({"bare", [&] { return part(bare); }});
    Rounds seconds = take_turns(runners, contest.effort);
    Record record{"operators", problem.spec, fmt::format("{}, {}", direction, shapes_text(problem.in))};
    if (runners.back().name == "bare") {
      record.bare_seconds = summarize(seconds.back()).median;
      runners.pop_back();
      seconds.pop_back();
    }
    fill_record(record, runners, seconds);
    record.flops = ours.flops(backward);
    record.bytes = ours.bytes(backward);
    records.push_back(std::move(record));
  }
  return records;
}

std::vector<Record> measure_methods(const std::string& spec, const Shape& x, int rounds) {
  tune::KernelTimer timer({.runs = 3, .seconds = 0.3});
  std::vector<Record> records;
  std::vector<std::vector<double>> seconds;
  for (int round = 0; round < rounds; ++round) {
    const auto all = tune::compare_methods(spec, x, timer);
    seconds.resize(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      seconds[i].push_back(all[i].seconds);
      if (round > 0) continue;
      Record& record = records.emplace_back(
          Record{"operators", spec,
                 fmt::format("{} by {}, {}", ops::direction_name(all[i].direction), all[i].method, x.str())});
      record.flops = all[i].flops;
      record.workspace_bytes = static_cast<double>(all[i].workspace);
      record.facts = {{"work, GF", all[i].work * 1e-9}, {"taken without tuning", all[i].usual ? 1.0 : 0.0}};
    }
  }
  for (std::size_t i = 0; i < records.size(); ++i) records[i].entries = {{"isobar", summarize(seconds[i]), rounds}};
  return records;
}

}  // namespace isobar::bench
