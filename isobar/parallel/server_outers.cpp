#include "isobar/parallel/server_outers.hpp"

#include "isobar/parallel/own_model.hpp"

namespace isobar::parallel {
namespace {

class PushEveryStep final : public Outer {
 public:
  explicit PushEveryStep(TeamLine& line) : line_(line) {}
  void offer(Replica& replica, int p, std::span<const float> gradient, const optim::Step& step) override {
    line_.put(replica, p, gradient);
    step_ = step;
  }
  void collect(Replica& replica, double samples) override {
    step_.clip_norm = 0;  // it is done
    line_.exchange(replica, step_, samples);
  }

 private:
  TeamLine& line_;
  optim::Step step_{};
};

class PushEveryPeriod final : public Outer {
 public:
  PushEveryPeriod(TeamLine& line, std::int64_t period) : line_(line), period_(period) {}

  void offer(Replica& replica, int p, std::span<const float> gradient, const optim::Step& step) override {
    const std::span<float> sum = line_.outgoing(p);
    const auto weight = static_cast<float>(step.learning_rate * step.gradient_scale);
    if (!sum.empty() && !replica.pretends(3.0 * static_cast<double>(gradient.size_bytes())))
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = (steps_ > 0 ? sum[i] : 0) + weight * gradient[i];
    step_ = step;
    // The last of a period is applied by the servers, with all before it.
    if (steps_ + 1 < period_) replica.update(p, gradient, step);
  }
  void collect(Replica& replica, double samples) override {
    rates_ += step_.learning_rate;
    samples_ += samples;
    if (++steps_ == period_) send_rest(replica);
  }
  void send_rest(Replica& replica) override {
    if (std::exchange(steps_, 0) == 0) return;
    for (int p = 0; p < replica.count(); ++p) {
      const std::span<float> sum = line_.outgoing(p);
      if (!replica[p].trained || sum.empty() || rates_ == 0) continue;
      if (replica.pretends(2.0 * static_cast<double>(sum.size_bytes()))) continue;
      for (float& number : sum) number = static_cast<float>(number / rates_);
    }
    step_.learning_rate = std::exchange(rates_, 0);
    step_.gradient_scale = 1;
    step_.clip_norm = 0;
    line_.exchange(replica, step_, std::exchange(samples_, 0));
  }

 private:
  TeamLine& line_;
  const std::int64_t period_;
  std::int64_t steps_ = 0;  // since the last push
  double rates_ = 0, samples_ = 0;
  optim::Step step_{};
};

// Weights are those that the step began with: the pull and the gradient are both taken there.
class PushWeights final : public Outer {
 public:
  PushWeights(TeamLine& line, std::int64_t period) : line_(line), period_(period) {}

  void begin_step(Replica& replica) override {
    own_.take_back(replica);
    if (steps_ + 1 == period_) copy(replica, before_);
  }
  void offer(Replica& replica, int p, std::span<const float> gradient, const optim::Step& step) override {
    replica.update(p, gradient, step);
    step_ = step;
  }
  void collect(Replica& replica, double samples) override {
    has_stepped_ = true;
    samples_ += samples;
    if (++steps_ < period_) return;
    steps_ = 0;
    copy(replica, after_);
    joined(replica, before_, [](float& weight, float before) { weight = before; });
    for (int p = 0; p < replica.count(); ++p)
      if (replica[p].trained) line_.put(replica, p, replica[p].weight);
    line_.exchange(replica, step_, std::exchange(samples_, 0));
    // The way that was pulled, and the step: w = after - (before - told).
    joined(replica, before_, [](float& told, float before) { told = before - told; });
    joined(replica, after_, [](float& way, float after) { way = after - way; });
  }
  // The replica is about to hold the weights that servers keep.
  void send_rest(Replica& replica) override { own_.set_aside(replica); }
  exec::StateBlocks state(Replica& replica) override {
    exec::StateBlocks blocks = own_.state(replica, has_stepped_);
    blocks.push_back({.name = "steps since the last push", .content = std::span(&steps_, 1), .may_drop = true});
    return blocks;
  }

 private:
  // All weights, one after the other.
  static void copy(Replica& replica, std::vector<float>& to) {
    if (replica.pretends(2.0 * static_cast<double>(replica.gradients().size_bytes()))) return;
    to.clear();
    for (const ReplicaParameter& each : replica.parameters())
      if (each.trained) to.insert(to.end(), each.weight.begin(), each.weight.end());
  }
  // work(weight, number) for all weights, and the numbers that were copied from there.
  template <class Work>
  static void joined(Replica& replica, const std::vector<float>& numbers, Work work) {
    if (replica.pretends(3.0 * static_cast<double>(replica.gradients().size_bytes()))) return;
    const float* from = numbers.data();
    for (const ReplicaParameter& each : replica.parameters()) {
      if (!each.trained) continue;
      for (float& weight : each.weight) work(weight, *from++);
    }
  }

  TeamLine& line_;
  const std::int64_t period_;
  std::int64_t steps_ = 0;
  double samples_ = 0;
  optim::Step step_{};
  OwnModel own_;
  bool has_stepped_ = false;
  std::vector<float> before_, after_;  // the weights of a step at whose end they are pushed
};

}  // namespace

std::unique_ptr<Outer> push_gradients(TeamLine& line, std::int64_t period) {
  if (period == 1) return std::make_unique<PushEveryStep>(line);
  return std::make_unique<PushEveryPeriod>(line, period);
}

std::unique_ptr<Outer> push_weights(TeamLine& line, std::int64_t period) {
  return std::make_unique<PushWeights>(line, period);
}

}  // namespace isobar::parallel
