// Rule of a server: gradients of all workers are added when the last has come, in the order of workers, and applied as
// one. Servers tell each other the norms of their parameters, so that all clip alike, and which of these are not
// finite.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "isobar/comm/collectives.hpp"
#include "isobar/optim/norm.hpp"
#include "isobar/parallel/server_rule.hpp"

namespace isobar::parallel {
namespace {

// Of one parameter, as servers tell each other.
struct Norm {
  std::int64_t number = 0;  // in the model
  double square = 0;
  std::int64_t bad = 0;
};

class ApplyTogether final : public ServerRule {
 public:
  explicit ApplyTogether(bool mean) : mean_(mean) {}

  void begin(ServedModel& model) override {
    model_ = &model;
    workers_.resize(model.workers());
    sum_ = model.memory(model.kept().trained());
    told_ = model.memory(model.kept().trained());
  }
  std::span<float> room(int worker) override {
    std::unique_ptr<comm::GradientMemory>& room = workers_[worker].room;
    if (!room) room = model_->memory(model_->kept().trained());
    return room->mine();
  }
  void take(const Push& push) override {
    workers_[push.worker].push = push;
    workers_[push.worker].waits = true;
    apply_if_all_are_here();
  }
  void leaves(int worker, bool) override {
    workers_[worker].here = false;
    apply_if_all_are_here();
  }
  bool may_answer(int worker) const override { return !workers_[worker].waits; }
  std::span<const float> answer(int) override { return told_->mine(); }
  int spoilt() const override { return spoilt_; }
  std::size_t copies(int workers) const override { return 2 + workers; }

 private:
  struct Worker {
    Push push{};
    bool here = true, waits = false;
    std::unique_ptr<comm::GradientMemory> room{};
  };

  void apply_if_all_are_here() {
    const auto waits = [](const Worker& each) { return each.waits; };
    if (std::ranges::none_of(workers_, waits)) return;
    if (std::ranges::any_of(workers_, [](const Worker& each) { return each.here && !each.waits; })) return;
    optim::Step step = std::ranges::find_if(workers_, waits)->push.step;
    model_->timed(adding_, static_cast<double>(sum_->mine().size_bytes() * (1 + workers_.size())), [&] { add(step); });
    const std::vector<Norm> norms = all_norms();
    const auto bad = std::ranges::find_if(norms, [](const Norm& each) { return each.bad != 0; });
    spoilt_ = bad == norms.end() ? -1 : static_cast<int>(bad->number);
    if (spoilt_ < 0) {
      clip(norms, step);
      model_->update(sum_->mine(), step, step.index - step.undone);
    }
    model_->copy_weights(told_->mine());
    for (Worker& each : workers_) each.waits = false;
  }

  // Of a mean, each part has been clipped by itself. Alone it stays as it is.
  void add(optim::Step& step) {
    double samples = 0;
    for (const Worker& each : workers_)
      if (each.waits) samples += each.push.samples;
    const bool weighed = mean_ && samples > 0 && std::ranges::count(workers_, true, &Worker::waits) > 1;
    if (weighed) step.gradient_scale = 1;
    bool first = true;
    for (const Worker& each : workers_) {
      if (!each.waits) continue;
      const double weight = weighed ? each.push.samples / samples * each.push.step.gradient_scale : 1;
      const auto share = static_cast<float>(weight);
      const std::span<const float> theirs = each.push.numbers;
      const std::span<float> sum = sum_->mine();
      for (std::size_t i = 0; i < sum.size(); ++i) {
        const float part = share == 1 ? theirs[i] : share * theirs[i];
        sum[i] = first ? part : sum[i] + part;
      }
      first = false;
    }
  }

  // Of the parameters of all servers, in the order of the model.
  std::vector<Norm> all_norms() {
    std::vector<Norm> mine;
    model_->kept().each_trained(sum_->mine(), [&](std::size_t i, std::span<const float>, std::span<float> gradient) {
      mine.push_back({model_->number(i), 0, 0});
      if (model_->pretends(static_cast<double>(gradient.size_bytes()))) return;
      mine.back().square = std::pow(optim::norm(gradient), 2);
      mine.back().bad = all_finite(gradient) ? 0 : 1;
    });
    if (model_->servers().size() == 1) return mine;
    std::vector<Norm> all;
    for (const comm::Bytes& theirs : comm::all_gather(model_->servers(), std::as_bytes(std::span(mine)))) {
      const std::size_t before = all.size();
      all.resize(before + theirs.size() / sizeof(Norm));
      if (!theirs.empty()) std::memcpy(all.data() + before, theirs.data(), theirs.size());
    }
    std::ranges::sort(all, {}, &Norm::number);
    return all;
  }

  // As Updates::clipped() does where gradients lie together.
  static void clip(std::span<const Norm> norms, optim::Step& step) {
    if (step.clip_norm <= 0) return;
    double sum = 0;
    for (const Norm& each : norms) sum += each.square;
    const double length = std::abs(step.gradient_scale) * std::sqrt(sum);
    if (std::isfinite(length) && length > step.clip_norm) step.gradient_scale *= step.clip_norm / length;
  }

  const bool mean_;
  ServedModel* model_ = nullptr;
  std::vector<Worker> workers_;
  std::unique_ptr<comm::GradientMemory> sum_, told_;
  int spoilt_ = -1;
  Chore adding_{Category::communication, "adding up gradients"};
};

}  // namespace

std::unique_ptr<ServerRule> apply_together(bool mean) { return std::make_unique<ApplyTogether>(mean); }

}  // namespace isobar::parallel
