#include "isobar/bench/training_step.hpp"

#include "isobar/base/clock.hpp"
#include "isobar/base/random.hpp"
#include "isobar/bench/statistics.hpp"
#include "isobar/zoo/network.hpp"

namespace isobar::bench {

TrainingStep::TrainingStep(const Spec& model, std::int64_t batch, const Spec& optimizer,
                           const graph::PlanOptions& options, const Company& company)
    : optimizer_(make(optim::optimizers(), optimizer, "optimizer")),
      strategy_(make(parallel::strategies(), company.strategy, "strategy")),
      ranks_(company.comm ? company.comm->size() : 1),
      samples_(static_cast<std::size_t>(batch)) {
  const auto network = zoo::make_network(model);
  graph::Plan plan = graph::make_plan(zoo::training_graph(*network, batch), options);
  std::span<float> gradients;
  if (company.comm) gradients = strategy_->open(*company.comm, exec::ParamStore::gradient_floats(plan));
  store_ = std::make_unique<exec::ParamStore>(plan, optimizer_->slots(), gradients);
  store_->initialize(1);
  for (const graph::PlanInput& input : plan.inputs) {
    const Tensor& tensor = inputs_.emplace_back(input.shape);
    const Random random(7, inputs_.size());
    for (std::int64_t i = 0; i < tensor.count(); ++i)
      tensor.data()[i] = static_cast<float>(random.uniform(static_cast<std::uint64_t>(i)));
  }
  executor_ = std::make_unique<exec::Executor>(std::move(plan), *store_, &trace_.main());
  replica_ = std::make_unique<parallel::ComputedReplica>(*executor_, *store_, *optimizer_, &trace_);
}

exec::Run TrainingStep::moment() const {
  return {.seed = 1, .step = step_, .samples = samples_, .total = static_cast<double>(samples_.size()) * ranks_};
}

double TrainingStep::run() {
  Inputs inputs;
  for (std::size_t i = 0; i < inputs_.size(); ++i)
    inputs.emplace_back(executor_->plan().inputs[i].name, inputs_[i].span());
  return run(std::move(inputs));
}

double TrainingStep::run(Inputs inputs) {
  ++step_;
  const parallel::Feed feed{std::move(inputs), moment()};
  const double begin = now_seconds();
  trace_.begin_step(step_, begin, false);
  strategy_->step(*replica_, {&feed, 1}, {step_, optimizer_->base_rate()});
  const double end = now_seconds();
  trace_.end_step(end);
  return end - begin;
}

double bare_primitives(const Spec& model, std::int64_t batch, int repeats) {
  TrainingStep step(model, batch, "sgd", {.own_kernels = false});
  step.run();  // gives every buffer real numbers, and warms up
  double sum = 0;
  const graph::Plan& plan = step.executor().plan();
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    if (!plan.steps[s].library) continue;
    std::vector<double> seconds;
    for (int r = 0; r <= repeats; ++r) {
      const double begin = now_seconds();
      step.executor().run_alone(s, step.moment());
      if (r > 0) seconds.push_back(now_seconds() - begin);  // the first only warms the cache
    }
    sum += summarize(seconds).median;
  }
  return sum;
}

}  // namespace isobar::bench
