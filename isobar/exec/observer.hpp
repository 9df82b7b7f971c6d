// Observer: looks at the tensors of every step of a plan, before and after it runs. For finding out what went wrong:
// an executor without one pays nothing.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "isobar/graph/plan.hpp"

namespace isobar::exec {

/// A tensor of floats as a step has it before it: only rows that hold samples, where it has rows.
struct Seen {
  const graph::Buffer* buffer = nullptr;
  std::span<const float> numbers{};
  std::int64_t rows = 0;  ///< the numbers are those of so many rows of the batch, in order; 0: it has no rows
};

class Observer {
 public:
  virtual ~Observer() = default;
  /// A step is about to run: what it reads.
  virtual void before(const graph::PlanStep& step, const std::vector<Seen>& reads) = 0;
  /// It has run: what it wrote.
  virtual void after(const graph::PlanStep& step, const std::vector<Seen>& writes) = 0;
};

}  // namespace isobar::exec
