// Replica: this rank's model as a strategy sees it: its parameters as data; forward, backward and update as functions.
// The real one runs an executor; a simulated one can replay recorded times behind the same functions.
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
/// computed, unless the model talks with other ranks, which may have some.
struct Feed {
  std::vector<std::pair<std::string, std::span<const float>>> inputs;
  exec::Run run;
};

/// Where one parameter of the model lies, from the first step to the last.
struct ReplicaParameter {
  std::string_view name{};
  std::span<float> weight{}, gradient{};
  std::size_t offset = 0;                  ///< of its gradient in the memory of all gradients
  bool trained = true;                     ///< as in exec::GradientPlace
  double rate_scale = 1, decay_scale = 1;  ///< multiply those of an update
  std::vector<std::span<float>> slots{};   ///< of the optimizer

  /// Its part of memory that is laid out as all gradients are.
  template <class T>
  std::span<T> in(std::span<T> all) const {
    return all.subspan(offset, gradient.size());
  }
};

/// A kind of work that strategies do themselves, as the trace calls it. Whoever does it keeps this, for one replica, so
/// that its name is looked up once.
struct Chore {
  Category category;
  std::string_view name;
  std::int64_t in_trace = -1;  ///< the number of the name there; -1: not looked up yet
};

/// Says whether work that moves so many bytes is only pretended: a simulation lets its time pass. Empty: nothing is.
using Pretence = std::function<bool(double bytes)>;

class Replica {
 public:
  virtual ~Replica() = default;
  /// Returns the loss; 0 of a part of a model that has none.
  virtual double forward(const Feed& feed) = 0;
  /// Of the last forward(). Calls ready(p) as soon as gradient p is final; weights may still be read until it returns.
  virtual void backward(const Feed& feed, const std::function<void(int p)>& ready) = 0;
  /// Applies `gradient` to weight p by the optimizer's rule.
  virtual void update(int p, std::span<const float> gradient, const optim::Step& step) = 0;
  /// Whether work that moves so many bytes is only pretended: as Pretence has it.
  virtual bool pretends(double /*bytes*/) { return false; }

  /// In the order in which their gradients lie in memory.
  std::span<const ReplicaParameter> parameters() const { return parameters_; }
  int count() const { return static_cast<int>(parameters_.size()); }
  const ReplicaParameter& operator[](int p) const { return parameters_[static_cast<std::size_t>(p)]; }
  /// Where their gradients lie.
  std::vector<exec::GradientPlace> places() const;
  /// The memory of all weights, and of all numbers of an optimizer slot; they are laid out as all gradients are.
  std::span<float> weights() const { return whole(parameters_.front().weight); }
  std::span<float> slot(std::size_t s) const { return whole(parameters_.front().slots[s]); }
  /// The memory of all gradients, in the order they become final.
  std::span<float> gradients() const { return gradients_; }
  /// The circles of ranks that its passes talk in: all these ranks run as often as the others, samples or not.
  const std::vector<std::string>& circles() const { return circles_; }
  /// Whether anything is computed for a feed.
  bool computes(const Feed& feed) const { return feed.run.rows != 0 || !circles_.empty(); }
  /// Where this rank's events are recorded; null: nowhere.
  StepTrace* trace() const { return trace_; }

  /// Does some work of a strategy itself and records it.
  template <class Work>
  void timed(Chore& chore, std::int64_t step, double bytes, Work work) {
    if (pretends(bytes)) return;
    if (!trace_) return work();
    const double begin = now_seconds();
    work();
    Trace& main = trace_->main();
    if (chore.in_trace < 0) chore.in_trace = main.intern(chore.name);
    const auto name = static_cast<std::uint32_t>(chore.in_trace);
    main.record({chore.category, name, step, begin, now_seconds() - begin, 0, bytes});
  }

 protected:
  /// The memory, the names and the trace must outlive the replica.
  Replica(std::vector<ReplicaParameter> parameters, std::span<float> gradients, StepTrace* trace,
          std::vector<std::string> circles = {})
      : parameters_(std::move(parameters)), gradients_(gradients), trace_(trace), circles_(std::move(circles)) {}

 private:
  // The first parameter's part is given.
  std::span<float> whole(std::span<float> first) const {
    return {first.data() - parameters_.front().offset, gradients_.size()};
  }

  std::vector<ReplicaParameter> parameters_;
  std::span<float> gradients_;
  StepTrace* trace_;
  std::vector<std::string> circles_;
};

/// The replica that computes.
class ComputedReplica final : public Replica {
 public:
  /// All four must outlive the replica.
  ComputedReplica(exec::Executor& executor, exec::ParamStore& store, const optim::Optimizer& optimizer,
                  StepTrace* trace);

  double forward(const Feed& feed) override;
  void backward(const Feed& feed, const std::function<void(int p)>& ready) override;
  void update(int p, std::span<const float> gradient, const optim::Step& step) override;

 private:
  exec::Executor& executor_;
  exec::ParamStore& store_;
  const optim::Optimizer& optimizer_;
  std::span<const float> loss_;
  std::vector<std::uint32_t> trace_names_;
};

}  // namespace isobar::parallel
