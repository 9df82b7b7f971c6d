// ErrorFeedback: what a codec has not sent of this rank's gradients is added to those of the next step, so that nothing
// is lost for good. A step that fails changes nothing of it.
#pragma once

#include <span>
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
  /// The step of these gradients is good.
  void commit() { lost_.swap(next_); }

  exec::StateBlock state() {
    take_memory();
    return {"lost by the codec", std::span(lost_), exec::StateBlock::Scope::each_rank, exec::StateBlock::Merge::sum};
  }

 private:
  void take_memory() { lost_.resize(gradients_), next_.resize(gradients_); }

  std::size_t gradients_;
  std::vector<float> lost_, next_;
};

}  // namespace isobar::parallel
