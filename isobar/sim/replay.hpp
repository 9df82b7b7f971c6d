// ReplayedReplica: the model of a rank that computes nothing: it lets the recorded time pass and says when gradients
// are final. Weights and gradients are phantoms that all replicas of a process share; nobody may care what they hold.
#pragma once

#include "isobar/parallel/replica.hpp"
#include "isobar/parallel/strategy.hpp"
#include "isobar/sim/workload.hpp"

namespace isobar::sim {

/// What a rank spends its time on: one rank's clock, or those of all ranks together.
class Timeline {
 public:
  virtual ~Timeline() = default;
  /// A step begins: waits for its samples, and draws its noise.
  virtual void begin_step(std::int64_t step) = 0;
  /// So many seconds of computing pass, more or less as the noise of the step has it.
  virtual void compute(double seconds) = 0;
  /// Of the last rank.
  virtual double now() const = 0;
};

class ReplayedReplica final : public parallel::Replica {
 public:
  /// `gradients` has workload.gradient_numbers() numbers; a rank moves so many bytes a second. All must outlive this.
  ReplayedReplica(const Workload& workload, std::span<float> gradients, double bytes_per_second, Timeline& timeline);

  int parameters() const override { return static_cast<int>(offsets_.size()); }
  std::span<float> weight(int p) override { return gradient(p); }
  std::span<float> gradient(int p) override { return gradients_.subspan(offset(p), of(p).count); }
  std::span<float> all_gradients() override { return gradients_; }
  std::size_t offset(int p) const override { return offsets_[static_cast<std::size_t>(p)]; }
  bool trained(int p) const override { return of(p).trained; }
  std::string name(int p) const override { return of(p).name; }
  void forward(const parallel::Feed& feed) override;
  void backward(const parallel::Feed& feed, const std::function<void(int p)>& ready) override;
  void update(int p, std::span<const float> gradient, const optim::Step& step) override;
  double loss() const override { return 0; }
  bool pretends(double bytes) override;

 private:
  const WorkloadParameter& of(int p) const { return workload_.parameters[static_cast<std::size_t>(p)]; }

  const Workload& workload_;
  std::span<float> gradients_;
  double bytes_per_second_;
  Timeline& timeline_;
  std::vector<std::size_t> offsets_;
};

/// Takes `steps` training steps of a strategy that is open already; `ended` hears of each.
void take_steps(parallel::Strategy& strategy, ReplayedReplica& replica, Timeline& timeline, std::int64_t batch,
                int steps, const std::function<void(int step)>& ended);

}  // namespace isobar::sim
