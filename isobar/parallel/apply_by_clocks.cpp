// Rule of a server: gradients are applied as they come, and a worker that is ahead waits until the slowest has caught
// up (stale synchronous, Ho et al. 2013). A worker's clock is the number of its pushes.
#include <algorithm>
#include <limits>

#include "isobar/parallel/server_rule.hpp"

namespace isobar::parallel {
namespace {

class ApplyByClocks final : public ServerRule {
 public:
  explicit ApplyByClocks(std::int64_t bound) : bound_(bound) {}

  void begin(ServedModel& model) override {
    model_ = &model;
    gradients_ = model.memory(model.kept().trained());
    workers_.resize(model.workers());
  }
  std::span<float> room(int) override { return gradients_->mine(); }
  // Deltas of all workers add up: each counts as a part of the step that all together take.
  void take(const Push& push) override {
    optim::Step step = push.step;
    step.learning_rate /= static_cast<double>(std::ranges::count(workers_, false, &Worker::died));
    model_->update(push.numbers, step);
    ++workers_[push.worker].clock;
    find_slowest();
  }
  void leaves(int worker, bool died) override {
    workers_[worker].here = false;
    workers_[worker].died = died;
    find_slowest();
  }
  bool may_answer(int worker) const override { return slowest_ >= workers_[worker].clock - bound_; }
  std::span<const float> answer(int worker) override {
    std::unique_ptr<comm::GradientMemory>& told = workers_[worker].told;
    if (!told) told = model_->memory(model_->kept().trained());
    model_->copy_weights(told->mine());
    return told->mine();
  }
  std::size_t copies(int workers) const override { return 1 + workers; }

 private:
  struct Worker {
    std::int64_t clock = 0;
    bool here = true, died = false;
    std::unique_ptr<comm::GradientMemory> told{};
  };

  // Of those that are here.
  void find_slowest() {
    slowest_ = std::numeric_limits<std::int64_t>::max();
    for (const Worker& each : workers_)
      if (each.here) slowest_ = std::min(slowest_, each.clock);
  }

  const std::int64_t bound_;
  std::int64_t slowest_ = 0;
  ServedModel* model_ = nullptr;
  std::unique_ptr<comm::GradientMemory> gradients_;
  std::vector<Worker> workers_;
};

}  // namespace

std::unique_ptr<ServerRule> apply_by_clocks(std::int64_t bound) { return std::make_unique<ApplyByClocks>(bound); }

}  // namespace isobar::parallel
