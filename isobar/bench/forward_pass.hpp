// A network's forward pass in evaluation, on made inputs, ready to be timed.
#pragma once

#include <memory>
#include <vector>

#include "isobar/base/spec.hpp"
#include "isobar/exec/executor.hpp"
#include "isobar/tensor/tensor.hpp"

namespace isobar::bench {

class ForwardPass {
 public:
  ForwardPass(const Spec& model, std::int64_t batch);
  /// Runs once and returns the seconds.
  double run();

 private:
  std::unique_ptr<exec::ParamStore> store_;
  std::unique_ptr<exec::Executor> executor_;
  Tensor x_;
  std::vector<std::int64_t> samples_;
};

}  // namespace isobar::bench
