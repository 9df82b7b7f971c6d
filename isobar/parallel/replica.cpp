#include "isobar/parallel/replica.hpp"

namespace isobar::parallel {
namespace {

std::vector<ReplicaParameter> parameters_of(const exec::ParamStore& store) {
  std::vector<ReplicaParameter> list;
  for (int p = 0; p < store.count(); ++p) {
    const graph::PlanParameter& parameter = store.parameter(p);
    list.push_back({parameter.name, store.weight(p), store.gradient(p), store.offset(p), parameter.declared.trained});
  }
  return list;
}

}  // namespace

std::vector<exec::GradientPlace> Replica::places() const {
  std::vector<exec::GradientPlace> list;
  for (const ReplicaParameter& each : parameters_) list.push_back({each.offset, each.gradient.size(), each.trained});
  return list;
}

ComputedReplica::ComputedReplica(exec::Executor& executor, exec::ParamStore& store, const optim::Optimizer& optimizer,
                                 StepTrace* trace)
    : Replica(parameters_of(store), store.all_gradients(), trace),
      executor_(executor),
      store_(store),
      optimizer_(optimizer),
      loss_(executor.output("loss")) {
  if (trace)
    for (const ReplicaParameter& parameter : parameters())
      trace_names_.push_back(trace->main().intern(std::string(parameter.name) + " update"));
}

double ComputedReplica::forward(const Feed& feed) {
  for (const auto& [name, data] : feed.inputs) executor_.bind(name, data);
  executor_.forward(feed.run);
  return static_cast<double>(loss_[0]);
}

void ComputedReplica::backward(const Feed& feed, const std::function<void(int p)>& ready) {
  executor_.backward(feed.run, ready);
}

void ComputedReplica::update(int p, std::span<const float> gradient, const optim::Step& step) {
  const ops::Parameter& declared = store_.parameter(p).declared;
  if (!declared.trained) return;
  optim::Step scaled = step;
  scaled.index -= step.undone;
  scaled.rate_scale *= declared.rate_scale;
  scaled.decay_scale *= declared.decay_scale;
  std::vector<std::span<float>> slots;
  for (int s = 0; s < store_.slot_count(); ++s) slots.push_back(store_.slot(p, s));
  const double begin = now_seconds();
  optimizer_.update(store_.weight(p), gradient, slots, scaled);
  // Weight read and written, gradient read, each slot read and written.
  const double bytes = static_cast<double>(gradient.size_bytes()) * (3 + 2 * store_.slot_count());
  if (trace())
    trace()->main().record({Category::optimizer, trace_names_[static_cast<std::size_t>(p)], step.index, begin,
                            now_seconds() - begin,
                            2.0 * static_cast<double>(gradient.size()) * (1 + store_.slot_count()), bytes});
}

}  // namespace isobar::parallel
