// Observer: sees the tensors of every step of a plan, before and after it runs, to find out what went wrong.
// An executor without an observer has no extra cost.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "isobar/graph/plan.hpp"

namespace isobar::exec {

/// A float tensor as a step sees it; if it has rows, only those that hold samples.
struct Seen {
  const graph::Buffer* buffer = nullptr;
  std::span<const float> numbers{};
  std::int64_t rows = 0;  ///< how many rows of the batch the numbers belong to, in order; 0: it has no rows
};

class Observer {
 public:
  virtual ~Observer() = default;
  /// Called before a step runs, with what it reads.
  virtual void before(const graph::PlanStep& step, const std::vector<Seen>& reads) = 0;
  /// Called after a step has run, with what it wrote.
  virtual void after(const graph::PlanStep& step, const std::vector<Seen>& writes) = 0;
};

}  // namespace isobar::exec
