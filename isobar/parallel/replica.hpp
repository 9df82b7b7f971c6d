// Replica: this rank's model as a strategy sees it: weights, gradients, forward, backward, update. The real one runs
// an executor; a simulated one can replay recorded times behind the same functions.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "isobar/exec/executor.hpp"
#include "isobar/optim/optimizer.hpp"

namespace isobar::parallel {

/// One batch as the model takes it: memory for every input, and what the run must know of it.
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
  virtual void forward(const Feed& feed) = 0;
  /// Calls ready(p) as soon as gradient p is final; weights may still be read until backward returns.
  virtual void backward(const Feed& feed, const std::function<void(int p)>& ready) = 0;
  /// Applies `gradient` to weight p by the optimizer's rule.
  virtual void update(int p, std::span<const float> gradient, const optim::Step& step) = 0;
  /// Of the last forward().
  virtual double loss() const = 0;
};

/// The replica that computes.
class ComputedReplica final : public Replica {
 public:
  /// All four must outlive the replica.
  ComputedReplica(exec::Executor& executor, exec::ParamStore& store, const optim::Optimizer& optimizer, Trace* trace);

  int parameters() const override { return store_.count(); }
  std::span<float> weight(int p) override { return store_.weight(p); }
  std::span<float> gradient(int p) override { return store_.gradient(p); }
  void forward(const Feed& feed) override;
  void backward(const Feed& feed, const std::function<void(int p)>& ready) override;
  void update(int p, std::span<const float> gradient, const optim::Step& step) override;
  double loss() const override { return static_cast<double>(executor_.output("loss")[0]); }

 private:
  exec::Executor& executor_;
  exec::ParamStore& store_;
  const optim::Optimizer& optimizer_;
  Trace* trace_;
  std::vector<std::uint32_t> trace_names_;
};

}  // namespace isobar::parallel
