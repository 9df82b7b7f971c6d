// A training step of a network on noise, ready to be timed.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "isobar/base/step_trace.hpp"
#include "isobar/exec/executor.hpp"
#include "isobar/optim/optimizer.hpp"
#include "isobar/parallel/strategy.hpp"
#include "isobar/split/split.hpp"
#include "isobar/tensor/tensor.hpp"

namespace isobar::bench {

/// The optimizer of contestants, so slow that the numbers hardly change, for any loss.
inline constexpr const char* steady_optimizer = "sgd(momentum=0.9, lr=1e-6)";

/// The ranks that share a step, how they exchange gradients, and how one model is cut over all of them.
struct Company {
  comm::Comm* comm = nullptr;  ///< null: this process alone
  Spec strategy = "solo";
  Spec split = "none";
};

class TrainingStep {
 public:
  TrainingStep(const Spec& model, std::int64_t batch, const Spec& optimizer, const graph::PlanOptions& options = {},
               const Company& company = {});

  /// Memory for every input of the network, by name.
  using Inputs = std::vector<std::pair<std::string, std::span<const float>>>;

  /// Runs one step on noise and returns the seconds.
  double run();
  /// Runs one step on the given inputs.
  double run(Inputs inputs);
  /// Runs one step on noise and returns its events, valid until the next step.
  std::span<const Event> run_traced();
  /// The name of such an event: the plan's step and kernel, or the update.
  const std::string& name_of(const Event& event) { return trace_.main().names()[event.name]; }
  exec::Executor& executor() { return *executor_; }
  const exec::Executor& executor() const { return *executor_; }
  const Trace& trace() const { return trace_.all(); }
  const parallel::Strategy& strategy() const { return *strategy_; }
  /// The description of the batch that a step gets.
  exec::Run moment() const;

 private:
  Inputs made_inputs() const;
  std::span<const Event> run_step(Inputs inputs, bool traced);

  split::ModelPart part_of(const Spec& model, std::int64_t batch, const Company& company);

  StepTrace trace_;
  std::unique_ptr<comm::Comm> replica_ranks_;  // null unless the model is cut
  std::unique_ptr<optim::Optimizer> optimizer_;
  std::unique_ptr<exec::ParamStore> store_;
  std::unique_ptr<exec::Executor> executor_;
  std::unique_ptr<parallel::ComputedReplica> replica_;
  std::unique_ptr<parallel::Strategy> strategy_;
  double shares_ = 1;  // of the loss: what its samples are multiplied by
  std::vector<Tensor> inputs_;
  std::vector<std::int64_t> samples_;
  std::int64_t step_ = 0;
  double seconds_ = 0;  // of the last step
};

}  // namespace isobar::bench
