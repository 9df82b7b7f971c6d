// BadStepPolicy: what happens to steps with numbers that are not finite. The strategy finds them before they are
// applied, the same on all ranks, so that all ranks decide the same, from their counts. The run continues with the
// samples that follow; only the model may go back.
#pragma once

#include "isobar/train/keeper.hpp"

namespace isobar::train {

/// What bad numbers have done to the run so far.
BadSteps bad_steps_of(const checkpoint::Position& position);

class BadStepPolicy {
 public:
  /// All must outlive this.
  BadStepPolicy(Session& session, Keeper& keeper, const Listeners& listeners)
      : session_(session), keeper_(keeper), listeners_(listeners) {}

  /// Drops the step, goes back, or ends the run, as the recipe says.
  void meet(const parallel::NotFinite& found, std::span<const parallel::Feed> feeds, const optim::Step& step,
            std::int64_t epoch);
  /// Applies the updates the strategy has under way, except bad ones.
  void finish_updates();

 private:
  [[noreturn]] void end_run(const parallel::NotFinite& found, std::span<const parallel::Feed> feeds,
                            const optim::Step& step, std::int64_t epoch, const std::string& advice);

  Session& session_;
  Keeper& keeper_;
  const Listeners& listeners_;
};

}  // namespace isobar::train
