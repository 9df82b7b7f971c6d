// JointNorm: sums over all ranks within a forward or backward pass, for batches that are normalised over all ranks.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "isobar/base/step_trace.hpp"
#include "isobar/comm/comm.hpp"

namespace isobar::train {

class JointNorm {
 public:
  /// A group of its own over the ranks of `world`, so that its messages meet no others. All ranks must call.
  JointNorm(comm::Comm& world, StepTrace& trace);
  JointNorm(const JointNorm&) = delete;

  /// What exec::Run wants, for the passes of a step; valid as long as this lives.
  const std::function<void(std::span<float>)>* sum_in(std::int64_t step);

 private:
  std::unique_ptr<comm::Comm> group_;
  std::function<void(std::span<float>)> sum_;
  std::int64_t step_ = 0;
};

}  // namespace isobar::train
