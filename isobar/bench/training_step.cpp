#include "isobar/bench/training_step.hpp"

#include "isobar/base/clock.hpp"
#include "isobar/bench/made_inputs.hpp"
#include "isobar/zoo/network.hpp"

namespace isobar::bench {

TrainingStep::TrainingStep(const Spec& model, std::int64_t batch, const Spec& optimizer,
                           const graph::PlanOptions& options, const Company& company)
    : optimizer_(make(optim::optimizers(), optimizer, "optimizer")),
      strategy_(make(parallel::strategies(), company.strategy, "strategy")),
      shares_(company.comm ? company.comm->size() : 1),
      samples_(batch) {
  if (strategy_->traits().servers > 0)
    fail_usage("bench: strategy '{}' has ranks that keep parameters; whole runs show its speed: 'isobar scale'",
               company.strategy.str());
  const graph::Graph graph = part_of(model, batch, company).graph;
  graph::PlanOptions chosen = options;
  chosen.gradients_in_arena = !company.comm;
  graph::Plan plan = graph::make_plan(graph, chosen);
  const auto arena = std::make_shared<Block>(plan.arena_bytes);
  std::span<float> gradients = exec::arena_gradients(plan, *arena);
  if (company.comm) gradients = strategy_->open(*company.comm, exec::ParamStore::gradient_floats(plan), {});
  store_ = std::make_unique<exec::ParamStore>(plan, optimizer_->slots(), gradients);
  store_->initialize(1);
  for (const graph::PlanInput& input : plan.inputs) inputs_.push_back(made_input(graph, input.name));
  exec::TalkSetting talk{.trace = &trace_};
  if (replica_ranks_) talk.circles["replica"] = replica_ranks_.get();
  executor_ = std::make_unique<exec::Executor>(std::move(plan), *store_, &trace_.main(), arena, talk);
  replica_ = std::make_unique<parallel::ComputedReplica>(*executor_, *store_, *optimizer_, &trace_);
}

// A model that is cut is one for all ranks, else each has its own.
split::ModelPart TrainingStep::part_of(const Spec& model, std::int64_t batch, const Company& company) {
  const auto split = make(split::splits(), company.split, "split");
  const int ranks = company.comm ? company.comm->size() : 1;
  if (split->ways() > 1 && split->ways() != ranks)
    fail_usage("bench: split '{}' cuts a model over {} ranks, here are {}", company.split.str(), split->ways(), ranks);
  split::ModelPart part =
      split->cut(zoo::training_graph(*zoo::make_network(model), batch), split->ways() > 1 ? company.comm->rank() : 0);
  if (split->ways() == 1) return part;
  replica_ranks_ = comm::duplicate(*company.comm);
  shares_ = 1 / part.loss_share;
  return part;
}

exec::Run TrainingStep::moment() const {
  return {.seed = 1, .step = step_, .samples = samples_, .total = static_cast<double>(samples_.size()) * shares_};
}

TrainingStep::Inputs TrainingStep::made_inputs() const {
  Inputs inputs;
  for (std::size_t i = 0; i < inputs_.size(); ++i)
    inputs.emplace_back(executor_->plan().inputs[i].name, inputs_[i].span());
  return inputs;
}

double TrainingStep::run() { return run(made_inputs()); }

double TrainingStep::run(Inputs inputs) {
  run_step(std::move(inputs), false);
  return seconds_;
}

std::span<const Event> TrainingStep::run_traced() { return run_step(made_inputs(), true); }

std::span<const Event> TrainingStep::run_step(Inputs inputs, bool traced) {
  ++step_;
  const parallel::Feed feed{std::move(inputs), moment()};
  const double begin = now_seconds();
  trace_.begin_step(step_, begin, traced);
  strategy_->step(*replica_, {&feed, 1}, {step_, optimizer_->base_rate()});
  const double end = now_seconds();
  seconds_ = end - begin;
  return trace_.end_step(end);
}

}  // namespace isobar::bench
