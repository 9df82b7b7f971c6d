// JointNorm: sums over all ranks within a forward or backward pass, for batch normalisation over all ranks.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "isobar/base/step_trace.hpp"
#include "isobar/comm/comm.hpp"

namespace isobar::train {

class JointNorm {
 public:
  /// Makes a separate group of the ranks of `world`, so that its messages are separate too. All ranks must call.
  JointNorm(comm::Comm& world, StepTrace& trace);
  JointNorm(const JointNorm&) = delete;

  /// The sum for exec::Run, for the passes of a step; valid as long as this object.
  const std::function<void(std::span<float>)>* sum_in(std::int64_t step);

 private:
  std::unique_ptr<comm::Comm> group_;
  std::function<void(std::span<float>)> sum_;
  std::int64_t step_ = 0;
};

}  // namespace isobar::train
