// Level 0: operators. Every operator of the catalogue on its problems and on sizes typical of networks: the kernels of
// its forward and backward passes, compared with the bare oneDNN primitive if it is one, and with PyTorch if it has the
// operator. Operators run alone in a small graph without fusions; only their own kernels are counted.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "isobar/bench/contestant.hpp"
#include "isobar/bench/harness.hpp"
#include "isobar/exec/executor.hpp"
#include "isobar/ops/op.hpp"
#include "isobar/tensor/tensor.hpp"

namespace isobar::bench {

/// The problems of an operator, then problems of sizes typical of networks.
std::vector<ops::Problem> operator_problems(const ops::OperatorRow& row);

/// An operator on one problem, ready to be timed.
class OperatorRun {
 public:
  /// Operators without a backward pass run only forward.
  explicit OperatorRun(const ops::Problem& problem, graph::PlanOptions options = {});

  struct Times {
    double forward = 0, backward = 0;  ///< seconds
  };
  Times run();
  /// Whether there are kernels in this direction: views have none, and not every operator has a gradient.
  bool computes(bool backward) const;
  /// Whether there are kernels in this direction and all of them are single oneDNN primitives.
  bool primitive(bool backward) const;
  double flops(bool backward) const;
  double bytes(bool backward) const;

 private:
  template <class Of>
  double sum(bool backward, const Of& of) const;
  bool its(const graph::PlanStep& step) const;

  bool training_ = true;
  std::vector<Tensor> inputs_;
  std::vector<std::int64_t> samples_;
  std::unique_ptr<exec::ParamStore> store_;
  std::unique_ptr<Trace> trace_;
  std::unique_ptr<exec::Executor> executor_;
};

struct OperatorContest {
  Effort effort{};
  std::vector<Contestant*> peers{};  ///< torch_operators.py, in several layouts; may be empty
};

/// A record each for the forward and the backward pass, if they compute anything.
std::vector<Record> measure_operator(const ops::Problem& problem, const OperatorContest& contest);

/// All methods to compute the same convolution, with their work, workspace and time: a record for every method that
/// applies, in every direction; empty for operators other than convolutions.
std::vector<Record> measure_methods(const std::string& spec, const Shape& x, int rounds);

}  // namespace isobar::bench
