#include "isobar/sim/replay.hpp"

namespace isobar::sim {
namespace {

std::vector<parallel::ReplicaParameter> phantom_parameters(const Workload& workload, std::span<float> gradients) {
  expects(workload.gradient_numbers() == gradients.size(), "memory for all gradients");
  std::vector<parallel::ReplicaParameter> list;
  std::size_t at = 0;
  for (const WorkloadParameter& parameter : workload.parameters) {
    const std::span<float> memory = gradients.subspan(at, parameter.count);
    list.push_back({parameter.name, memory, memory, at, parameter.trained});
    at += parameter.count;
  }
  return list;
}

}  // namespace

ReplayedReplica::ReplayedReplica(const Workload& workload, std::span<float> gradients, double bytes_per_second,
                                 Timeline& timeline)
    : Replica(phantom_parameters(workload, gradients), gradients, nullptr),
      workload_(workload),
      bytes_per_second_(bytes_per_second),
      timeline_(timeline) {}

double ReplayedReplica::forward(const parallel::Feed&) {
  for (const Stretch& stretch : workload_.forward) timeline_.compute(stretch.seconds);
  return 0;
}

void ReplayedReplica::backward(const parallel::Feed&, const std::function<void(int p)>& ready) {
  for (const Stretch& stretch : workload_.backward) {
    timeline_.compute(stretch.seconds);
    if (ready)
      for (const int p : stretch.final_parameters) ready(p);
  }
}

void ReplayedReplica::update(int p, std::span<const float>, const optim::Step&) {
  timeline_.compute(workload_.parameters[p].update_seconds);
}

bool ReplayedReplica::pretends(double bytes) {
  if (bytes_per_second_ > 0) timeline_.compute(bytes / bytes_per_second_);
  return true;
}

void take_steps(parallel::Strategy& strategy, ReplayedReplica& replica, Timeline& timeline, std::int64_t batch,
                int steps, const std::function<void(int step)>& ended) {
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
}

}  // namespace isobar::sim
