// ErrorFeedback: what a codec has not sent of this rank's gradients is added to those of the next step, so that nothing
// is lost for good. A step that fails changes nothing of it.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "isobar/exec/state_block.hpp"

namespace isobar::parallel {

class ErrorFeedback {
 public:
  /// Memory is taken when it is first needed, none on a simulated rank.
  explicit ErrorFeedback(std::size_t gradients) : gradients_(gradients) {}

  /// Adds what was lost before to the gradients that begin at `offset` of all.
  void add_to(std::span<float> gradients, std::size_t offset);
  /// Of the same gradients: keeps the difference to what has been sent, which is there now.
  void keep_lost(std::span<const float> sent, std::size_t offset);
  /// The step is good: what was kept of its gradients, if any were sent, is added to the next ones.
  void commit() {
    if (std::exchange(sent_, false)) lost_.swap(next_);
  }
  /// The step is not to count.
  void drop() { sent_ = false; }

  exec::StateBlock state() {
    take_memory();
    return {.name = "lost by the codec",
            .content = std::span(lost_),
            .scope = exec::StateBlock::Scope::each_rank,
            .merge = exec::StateBlock::Merge::sum,
            .may_drop = true};
  }

 private:
  void take_memory() { lost_.resize(gradients_), next_.resize(gradients_); }

  std::size_t gradients_;
  std::vector<float> lost_, next_;
  bool sent_ = false;  // in this step
};

}  // namespace isobar::parallel
