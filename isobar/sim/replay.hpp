// ReplayedReplica: the model of a rank that computes nothing: it lets the recorded time pass, begins and awaits the
// recorded messages and says when gradients are final. Weights and gradients are phantoms that all replicas of a
// process share; nobody may care what they hold.
#pragma once

#include "isobar/parallel/replica.hpp"
#include "isobar/parallel/strategy.hpp"
#include "isobar/sim/joint_pass.hpp"

namespace isobar::sim {

/// What a rank spends its time on: one rank's clock, or those of all ranks together.
class Timeline {
 public:
  virtual ~Timeline() = default;
  /// A step begins: waits for its samples, and draws its noise.
  virtual void begin_step(std::int64_t step) = 0;
  /// So many seconds of computing pass, more or less as the noise of the step has it.
  virtual void compute(double seconds) = 0;
  /// Messages within a pass begin, or are awaited.
  virtual void talk(const ops::Talk&) { expects(false, "ranks that send messages within passes"); }
  /// The same, of each part of the model that this is the clock of.
  virtual void compute_parts(std::span<const double> seconds);
  virtual void play_parts(std::span<const std::vector<PartStretch>> parts);
  /// What such messages have cost so far; of all ranks together their mean.
  virtual comm::ExchangeCost talk_cost() const { return {}; }
  /// Of the last rank.
  virtual double now() const = 0;
};

class ReplayedReplica final : public parallel::Replica {
 public:
  /// Weights and slots lie where gradients do; `gradients` has workload.gradient_numbers() numbers; a rank moves so
  /// many bytes a second. All must outlive this.
  ReplayedReplica(const Workload& workload, std::span<float> gradients, double bytes_per_second, Timeline& timeline);
  /// Of parts that go together, on a timeline of all of them.
  ReplayedReplica(std::span<const Workload* const> parts, std::span<float> gradients, double bytes_per_second,
                  Timeline& timeline);

  double forward(const parallel::Feed& feed) override;
  void backward(const parallel::Feed& feed, const std::function<void(int p)>& ready) override;
  void update(int p, std::span<const float> gradient, const optim::Step& step) override;
  bool pretends(double bytes) override;

 private:
  JointPass forward_, backward_;
  std::vector<std::vector<double>> update_seconds_;  // by parameter, then part
  double bytes_per_second_;
  Timeline& timeline_;
};

/// Takes `steps` training steps of a strategy that is open already, and ends; `ended` hears of each step.
void take_steps(parallel::Strategy& strategy, ReplayedReplica& replica, Timeline& timeline, std::int64_t batch,
                int steps, const std::function<void(int step)>& ended);

/// Serves those that take steps, as strategy and workload have it; updates take as long as on a rank that trains.
void serve(parallel::Strategy& strategy, const Workload& workload, double bytes_per_second, Timeline& timeline);

}  // namespace isobar::sim
