// Rule of a server: each gradient is applied when it comes; its worker is told at once. Optionally gradients are first
// compensated for their age (Zheng et al. 2017, DC-ASGD), or count less the older they are (Zhang et al. 2016).
#include <algorithm>
#include <cmath>

#include "isobar/parallel/server_rule.hpp"

namespace isobar::parallel {
namespace {

class ApplyAtOnce : public ServerRule {
 public:
  explicit ApplyAtOnce(bool aware) : aware_(aware) {}

  void begin(ServedModel& model) override {
    model_ = &model;
    gradients_ = model.memory(model.kept().trained());
    told_.resize(model.workers());
  }
  std::span<float> room(int) override { return gradients_->mine(); }
  void take(const Push& push) override {
    optim::Step step = push.step;
    if (aware_) step.learning_rate /= static_cast<double>(std::max<std::int64_t>(1, push.age));
    model_->update(push.numbers, step);
  }
  std::span<const float> answer(int worker) override { return read(worker); }
  std::size_t copies(int workers) const override { return 1 + workers; }

 protected:
  // The weights as they are now, in memory that stays until this worker reads again.
  std::span<float> read(int worker) {
    if (!told_[worker]) told_[worker] = model_->memory(model_->kept().trained());
    model_->copy_weights(told_[worker]->mine());
    return told_[worker]->mine();
  }

  ServedModel* model_ = nullptr;
  std::vector<std::unique_ptr<comm::GradientMemory>> told_;

 private:
  const bool aware_;
  std::unique_ptr<comm::GradientMemory> gradients_;
};

class ApplyCompensated final : public ApplyAtOnce {
 public:
  ApplyCompensated(const Compensation& how, bool aware) : ApplyAtOnce(aware), how_(how) {}

  void begin(ServedModel& model) override {
    ApplyAtOnce::begin(model);
    for (int worker = 0; worker < model.workers(); ++worker) read(worker);
    if (how_.adaptive) squares_ = model.memory(model.kept().trained());
  }
  void has_read(int worker) override { read(worker); }
  void take(const Push& push) override {
    const double moved = static_cast<double>(push.numbers.size_bytes()) * (how_.adaptive ? 6 : 4);
    model_->timed(compensating_, moved, [&] { compensate(push); });
    Push fresh = push;
    fresh.step.gradient_scale = 1;
    ApplyAtOnce::take(fresh);
  }
  std::size_t copies(int workers) const override { return ApplyAtOnce::copies(workers) + (how_.adaptive ? 1 : 0); }

 private:
  void compensate(const Push& push) {
    const auto scale = static_cast<float>(push.step.gradient_scale);
    model_->kept().each_trained(push.numbers, [&](std::size_t, std::span<const float> now, std::span<float> gradient) {
      const auto at = static_cast<std::size_t>(gradient.data() - push.numbers.data());
      const std::span<const float> then = told_[push.worker]->mine().subspan(at, now.size());
      for (std::size_t i = 0; i < now.size(); ++i) {
        const float g = scale * gradient[i];
        gradient[i] = g + factor(at + i, g) * g * g * (now[i] - then[i]);
      }
    });
  }
  float factor(std::size_t i, float g) {
    if (!how_.adaptive) return static_cast<float>(how_.factor);
    float& mean = squares_->mine()[i];
    mean = static_cast<float>(how_.memory) * mean + static_cast<float>(1 - how_.memory) * g * g;
    return static_cast<float>(how_.factor) / std::sqrt(mean + 1e-7f);
  }

  const Compensation how_;
  std::unique_ptr<comm::GradientMemory> squares_;
  Chore compensating_{Category::optimizer, "compensation for age"};
};

}  // namespace

std::unique_ptr<ServerRule> apply_at_once(bool aware) { return std::make_unique<ApplyAtOnce>(aware); }

std::unique_ptr<ServerRule> apply_compensated(const Compensation& how, bool aware) {
  return std::make_unique<ApplyCompensated>(how, aware);
}

}  // namespace isobar::parallel
