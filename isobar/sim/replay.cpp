#include "isobar/sim/replay.hpp"

#include <set>

namespace isobar::sim {
namespace {

std::vector<parallel::ReplicaParameter> phantom_parameters(const Workload& workload, std::span<float> gradients) {
  expects(workload.gradient_numbers() == gradients.size(), "memory for all gradients");
  std::vector<parallel::ReplicaParameter> list;
  std::size_t at = 0;
  for (const WorkloadParameter& parameter : workload.parameters) {
    const std::span<float> memory = gradients.subspan(at, parameter.count);
    list.push_back({parameter.name, memory, memory, at, parameter.trained});
    list.back().slots.assign(workload.optimizer_slots, memory);
    at += parameter.count;
  }
  return list;
}

std::vector<std::string> circles_of(const Workload& workload) {
  std::set<std::string> circles;
  for (const auto* pass : {&workload.forward, &workload.backward})
    for (const Stretch& stretch : *pass)
      if (stretch.talk) circles.insert(stretch.talk->circle);
  return {circles.begin(), circles.end()};
}

/// Keeps as much as the optimizer of a workload, and is never called.
class PretendedOptimizer final : public optim::Optimizer {
 public:
  explicit PretendedOptimizer(int slots) : Optimizer(0.0), slots_(slots) {}
  int slots() const override { return slots_; }
  void update(std::span<float>, std::span<const float>, std::span<const std::span<float>>,
              const optim::Step&) const override {
    expects(false, "updates in time only");
  }

 private:
  int slots_;
};

// At which updates of the workload read and write; as fast as the node says if they take no time.
double update_rate(const Workload& workload, double bytes_per_second) {
  double seconds = 0, bytes = 0;
  for (const WorkloadParameter& parameter : workload.parameters) {
    seconds += parameter.update_seconds;
    if (parameter.trained) bytes += sizeof(float) * parameter.count * (3.0 + 2 * workload.optimizer_slots);
  }
  return seconds > 0 ? bytes / seconds : bytes_per_second;
}

}  // namespace

void Timeline::compute_parts(std::span<const double> seconds) {
  expects(seconds.size() == 1, "one part");
  compute(seconds[0]);
}

void Timeline::play_parts(std::span<const std::vector<PartStretch>> parts) {
  expects(parts.size() == 1, "one part");
  for (const PartStretch& stretch : parts[0]) {
    compute(stretch.seconds);
    if (stretch.talk) talk(*stretch.talk);
  }
}

ReplayedReplica::ReplayedReplica(const Workload& workload, std::span<float> gradients, double bytes_per_second,
                                 Timeline& timeline)
    : ReplayedReplica(std::vector{&workload}, gradients, bytes_per_second, timeline) {}

ReplayedReplica::ReplayedReplica(std::span<const Workload* const> parts, std::span<float> gradients,
                                 double bytes_per_second, Timeline& timeline)
    : Replica(phantom_parameters(*parts[0], gradients), gradients, nullptr, circles_of(*parts[0])),
      forward_(joint_pass(parts, &Workload::forward)),
      backward_(joint_pass(parts, &Workload::backward)),
      bytes_per_second_(bytes_per_second),
      timeline_(timeline) {
  for (int p = 0; p < count(); ++p) {
    update_seconds_.emplace_back();
    for (const Workload* part : parts) update_seconds_.back().push_back(part->parameters.at(p).update_seconds);
  }
}

double ReplayedReplica::forward(const parallel::Feed&) {
  for (const JointStretch& stretch : forward_) timeline_.play_parts(stretch.parts);
  return 0;
}

void ReplayedReplica::backward(const parallel::Feed&, const std::function<void(int p)>& ready) {
  for (const JointStretch& stretch : backward_) {
    timeline_.play_parts(stretch.parts);
    if (ready)
      for (const int p : stretch.final_parameters) ready(p);
  }
}

void ReplayedReplica::update(int p, std::span<const float>, const optim::Step&) {
  timeline_.compute_parts(update_seconds_[p]);
}

bool ReplayedReplica::pretends(double bytes) {
  if (bytes_per_second_ > 0) timeline_.compute(bytes / bytes_per_second_);
  return true;
}

void take_steps(parallel::Strategy& strategy, ReplayedReplica& replica, Timeline& timeline, std::int64_t batch,
                int steps, const std::function<void(int step)>& ended) {
  strategy.begin(replica, 0);
  for (int step = 1; step <= steps; ++step) {
    timeline.begin_step(step);
    parallel::Feed feed;
    feed.run.step = step;
    feed.run.rows = batch;
    const optim::Step at{.index = step, .learning_rate = 0};
    strategy.step(replica, {&feed, 1}, at);
    ended(step);
  }
  strategy.settle(replica, parallel::Settle::updates);
  strategy.end(replica);
}

void serve(parallel::Strategy& strategy, const Workload& workload, double bytes_per_second, Timeline& timeline) {
  const PretendedOptimizer optimizer(workload.optimizer_slots);
  const double rate = update_rate(workload, bytes_per_second);
  const auto pretends = [&](double bytes) {
    if (rate > 0) timeline.compute(bytes / rate);
    return true;
  };
  strategy.serve({.optimizer = optimizer, .pretends = pretends});
}

}  // namespace isobar::sim
