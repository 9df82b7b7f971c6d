// A training step of a network on noise, ready to be timed.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "isobar/base/step_trace.hpp"
#include "isobar/exec/executor.hpp"
#include "isobar/optim/optimizer.hpp"
#include "isobar/parallel/strategy.hpp"
#include "isobar/tensor/tensor.hpp"

namespace isobar::bench {

/// With whom a step is made, and how gradients are exchanged.
struct Company {
  comm::Comm* comm = nullptr;  ///< null: nobody
  Spec strategy = "solo";
};

class TrainingStep {
 public:
  TrainingStep(const Spec& model, std::int64_t batch, const Spec& optimizer, const graph::PlanOptions& options = {},
               const Company& company = {});

  /// Memory for every input of the network, by name.
  using Inputs = std::vector<std::pair<std::string, std::span<const float>>>;

  /// Runs one step on noise and returns its seconds.
  double run();
  /// Runs one step on what is given.
  double run(Inputs inputs);
  exec::Executor& executor() { return *executor_; }
  const Trace& trace() const { return trace_.all(); }
  const parallel::Strategy& strategy() const { return *strategy_; }
  /// What a step is told about its batch.
  exec::Run moment() const;

 private:
  StepTrace trace_;
  std::unique_ptr<optim::Optimizer> optimizer_;
  std::unique_ptr<exec::ParamStore> store_;
  std::unique_ptr<exec::Executor> executor_;
  std::unique_ptr<parallel::ComputedReplica> replica_;
  std::unique_ptr<parallel::Strategy> strategy_;
  int ranks_ = 1;
  std::vector<Tensor> inputs_;
  std::vector<std::int64_t> samples_;
  std::int64_t step_ = 0;
};

/// Seconds of the oneDNN primitives a network's training step consists of, each run alone and repeatedly: the sum of
/// the medians. No operator of ours, no optimizer, no copies between layouts.
double bare_primitives(const Spec& model, std::int64_t batch, int repeats);

}  // namespace isobar::bench
