#include "isobar/parallel/replica.hpp"

namespace isobar::parallel {
namespace {

std::vector<ReplicaParameter> parameters_of(const exec::ParamStore& store) {
  std::vector<ReplicaParameter> list;
  for (int p = 0; p < store.count(); ++p) {
    const graph::PlanParameter& parameter = store.parameter(p);
    list.push_back({parameter.name,
                    store.weight(p),
                    store.gradient(p),
                    store.offset(p),
                    parameter.declared.trained,
                    parameter.declared.rate_scale,
                    parameter.declared.decay_scale,
                    {}});
    for (int s = 0; s < store.slot_count(); ++s) list.back().slots.push_back(store.slot(p, s));
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
    : Replica(parameters_of(store), store.all_gradients(), trace, executor.plan().circles()),
      executor_(executor),
      store_(store),
      optimizer_(optimizer),
      loss_(executor.plan().outputs.contains("loss") ? executor.output("loss") : std::span<const float>()) {
  if (trace)
    for (const ReplicaParameter& parameter : parameters())
      trace_names_.push_back(trace->main().intern(std::string(parameter.name) + " update"));
}

double ComputedReplica::forward(const Feed& feed) {
  for (const auto& [name, data] : feed.inputs) executor_.bind(name, data);
  executor_.forward(feed.run);
  return loss_.empty() ? 0 : static_cast<double>(loss_[0]);
}

void ComputedReplica::backward(const Feed& feed, const std::function<void(int p)>& ready) {
  executor_.backward(feed.run, ready);
}

void ComputedReplica::update(int p, std::span<const float> gradient, const optim::Step& step) {
  const ReplicaParameter& mine = (*this)[p];
  if (!mine.trained) return;
  optim::Step scaled = step;
  scaled.index -= step.undone;
  scaled.rate_scale *= mine.rate_scale;
  scaled.decay_scale *= mine.decay_scale;
  const double begin = now_seconds();
  optimizer_.update(store_.weight(p), gradient, mine.slots, scaled);
  // Weight read and written, gradient read, each slot read and written.
  const double bytes = static_cast<double>(gradient.size_bytes()) * (3 + 2 * store_.slot_count());
  if (trace())
    trace()->main().record({Category::optimizer, trace_names_[static_cast<std::size_t>(p)], step.index, begin,
                            now_seconds() - begin,
                            2.0 * static_cast<double>(gradient.size()) * (1 + store_.slot_count()), bytes});
}

}  // namespace isobar::parallel
