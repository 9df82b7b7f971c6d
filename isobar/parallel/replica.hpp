// Replica: this rank's model as a strategy sees it: weights, gradients, forward, backward, update. The real one runs
// an executor; a simulated one can replay recorded times behind the same functions.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "isobar/base/clock.hpp"
#include "isobar/base/step_trace.hpp"
#include "isobar/exec/executor.hpp"
#include "isobar/optim/optimizer.hpp"

namespace isobar::parallel {

/// One batch as the model takes it: memory for every input, and what the run must know of it. Without rows nothing is
/// computed, unless run.sum asks for it.
struct Feed {
  std::vector<std::pair<std::string, std::span<const float>>> inputs;
  exec::Run run;
};

class Replica {
 public:
  virtual ~Replica() = default;
  virtual int parameters() const = 0;
  virtual std::span<float> weight(int p) = 0;
  virtual std::span<float> gradient(int p) = 0;
  /// The memory of all gradients, in the order they become final; parameters lie in it by their number.
  virtual std::span<float> all_gradients() = 0;
  /// Where the gradient of p begins in all_gradients().
  virtual std::size_t offset(int p) const = 0;
  /// False for what a forward pass gathers by itself, such as running statistics: it has no gradient, and its part of
  /// all_gradients() is free for whoever exchanges it.
  virtual bool trained(int p) const = 0;
  virtual std::string name(int p) const = 0;
  virtual void forward(const Feed& feed) = 0;
  /// Calls ready(p) as soon as gradient p is final; weights may still be read until backward returns.
  virtual void backward(const Feed& feed, const std::function<void(int p)>& ready) = 0;
  /// Applies `gradient` to weight p by the optimizer's rule.
  virtual void update(int p, std::span<const float> gradient, const optim::Step& step) = 0;
  /// Of the last forward().
  virtual double loss() const = 0;
  /// Where this rank's events are recorded, if anywhere; strategies record there what they do themselves.
  virtual StepTrace* trace() { return nullptr; }

  /// Whether work that moves so many bytes is only pretended: a simulated replica lets its time pass and says yes.
  virtual bool pretends(double /*bytes*/) { return false; }

  /// Does some work of a strategy itself and records it.
  template <class Work>
  void timed(Category category, std::string_view name, std::int64_t step, double bytes, Work work) {
    if (pretends(bytes)) return;
    StepTrace* const into = trace();
    if (!into) return work();
    const double begin = now_seconds();
    work();
    Trace& main = into->main();
    main.record({category, main.intern(name), step, begin, now_seconds() - begin, 0, bytes});
  }
};

/// The replica that computes.
class ComputedReplica final : public Replica {
 public:
  /// All four must outlive the replica.
  ComputedReplica(exec::Executor& executor, exec::ParamStore& store, const optim::Optimizer& optimizer,
                  StepTrace* trace);

  int parameters() const override { return store_.count(); }
  std::span<float> weight(int p) override { return store_.weight(p); }
  std::span<float> gradient(int p) override { return store_.gradient(p); }
  std::span<float> all_gradients() override { return store_.all_gradients(); }
  std::size_t offset(int p) const override { return store_.offset(p); }
  bool trained(int p) const override { return store_.parameter(p).declared.trained; }
  std::string name(int p) const override { return store_.parameter(p).name; }
  void forward(const Feed& feed) override;
  void backward(const Feed& feed, const std::function<void(int p)>& ready) override;
  void update(int p, std::span<const float> gradient, const optim::Step& step) override;
  double loss() const override { return static_cast<double>(executor_.output("loss")[0]); }
  StepTrace* trace() override { return trace_; }

 private:
  exec::Executor& executor_;
  exec::ParamStore& store_;
  const optim::Optimizer& optimizer_;
  StepTrace* trace_;
  std::vector<std::uint32_t> trace_names_;
};

}  // namespace isobar::parallel
