// BadStepPolicy: steps with numbers that are not finite. The strategy has found them before they were applied, alike on
// all ranks, so all decide alike, by what they have counted. The run goes on with the samples that follow; only the
// model may go back.
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
  /// Applies what the strategy has under way, but for what is bad in it.
  void finish_updates();

 private:
  [[noreturn]] void end_run(const parallel::NotFinite& found, std::span<const parallel::Feed> feeds,
                            const optim::Step& step, std::int64_t epoch, const std::string& advice);

  Session& session_;
  Keeper& keeper_;
  const Listeners& listeners_;
};

}  // namespace isobar::train
