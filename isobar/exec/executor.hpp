// Executor: runs the steps of a plan in order, reports each to the trace, and notifies a listener when a gradient is
// final. It owns the arena; weights and gradients belong to the store.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "isobar/base/trace.hpp"
#include "isobar/exec/messages.hpp"
#include "isobar/exec/observer.hpp"
#include "isobar/exec/param_store.hpp"
#include "isobar/graph/plan.hpp"

namespace isobar::exec {

/// What a run needs to know about its batch.
struct Run {
  std::uint64_t seed = 0;
  std::int64_t step = 0;
  std::int64_t epoch = 0;
  std::span<const std::int64_t> samples{};  ///< global sample numbers, one per row
  std::int64_t rows = -1;                   ///< rows that hold samples; -1: all
  double total = -1;                        ///< samples the loss is averaged over; -1: rows
};

class Executor {
 public:
  /// Binds the plan to the store, which must hold all its parameters in the plan's layouts and outlive the executor.
  /// Executors that never run at the same time may share an arena large enough for each; null: a new arena.
  /// `talk` says where the plan talks; without it, plans of this rank alone are run. All ranks that talk must run
  /// forward and backward as often as the others, even those whose batch has no rows.
  /// Several executors may be lanes: one plan and one store, each an arena of its own, for batches under way at once.
  /// The gradients in the store are then those of the lane that ran backward() last.
  Executor(std::shared_ptr<const graph::Plan> plan, ParamStore& store, Trace* trace = nullptr,
           std::shared_ptr<Block> arena = nullptr, const TalkSetting& talk = {});
  Executor(graph::Plan plan, ParamStore& store, Trace* trace = nullptr, std::shared_ptr<Block> arena = nullptr,
           const TalkSetting& talk = {})
      : Executor(std::make_shared<const graph::Plan>(std::move(plan)), store, trace, std::move(arena), talk) {}

  /// Sets the memory of an input; it is read during the next forward and backward.
  void bind(const std::string& input, std::span<const float> data);
  void forward(const Run& run);
  /// Must follow forward() with the same Run. `ready(p)` is called as soon as the gradient of the store's parameter p
  /// is final.
  void backward(const Run& run, const std::function<void(int p)>& ready = {});

  /// Runs one step alone, on whatever its buffers hold, for benchmarks.
  void run_alone(graph::StepId step, const Run& run) { run_steps(step, step + 1, run, {}); }

  /// From now on the observer sees every step; null: no observer.
  void observe(Observer* observer) { observer_ = observer; }

  /// A named output of the last forward(), valid until the next; it may be a view of an input and live only as long.
  std::span<const float> output(const std::string& name) const;
  const graph::Plan& plan() const { return plan_; }
  /// What the messages of the plan have cost this rank so far.
  comm::ExchangeCost message_cost() const { return messages_.cost(); }

  /// Fills the arena with a pattern; afterwards damaged_guards() names the buffers whose guard bytes were overwritten.
  /// For plans with guard_bytes and without shared memory.
  void poison();
  std::vector<std::string> damaged_guards() const;

 private:
  void run_steps(graph::StepId first, graph::StepId last, const Run& run, const std::function<void(int)>& ready);
  void* address(const graph::Buffer& buffer) const;
  void find_gaps();
  std::vector<Seen> seen(const graph::PlanStep& step, std::size_t first, std::size_t last,
                         const ops::Moment& moment) const;

  std::shared_ptr<const graph::Plan> shared_plan_;
  const graph::Plan& plan_;  // the same
  ParamStore& store_;
  Trace* trace_;
  Observer* observer_ = nullptr;
  std::shared_ptr<Block> arena_;
  dnnl::stream stream_;
  Messages messages_;
  IdVector<graph::ParameterId, int> store_index_;  // of the plan's parameters
  IdVector<graph::StepId, std::vector<dnnl::memory>> memories_;
  std::vector<std::vector<dnnl::memory>> input_uses_;  // per input: memories that point into it
  std::vector<const float*> bound_;                    // per input: the argument of bind()
  IdVector<graph::StepId, std::uint32_t> trace_names_;
  std::vector<std::span<float>> gaps_;  // between gradients in the arena
};

}  // namespace isobar::exec
