// Steps with numbers that are not finite: the strategy has found them before they were applied, alike on all ranks, so
// all decide alike, by what they have counted. The run goes on with the samples that follow; only the model may go
// back.
#include <algorithm>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"
#include "isobar/train/agreement.hpp"
#include "isobar/train/diagnosis.hpp"
#include "isobar/train/trainer.hpp"

namespace isobar::train {

using parallel::NotFinite;
using Policy = BadNumbers::Policy;

std::string BadSteps::str() const {
  if (steps == 0) return "";
  std::string text = fmt::format("{} step{} with bad numbers", with_commas(steps), steps == 1 ? "" : "s");
  if (rewinds > 0) text += fmt::format(", {} rewind{}", rewinds, rewinds == 1 ? "" : "s");
  if (rate_scale != 1) text += fmt::format(", learning rate x {:.4g}", rate_scale);
  return text;
}

// At the start of a session, and at a checkpoint: a run that is resumed from there has no other.
void Trainer::begin_good_states() {
  if (job_.numbers.policy != Policy::rewind) return;
  job_.strategy->rest();
  good_states_.begin(*store_, position_, kept());
}

void Trainer::renew_good_state() {
  if (job_.numbers.policy != Policy::rewind || !good_states_.due(position_)) return;
  job_.strategy->rest();
  good_states_.renew(*store_, position_, kept());
}

void Trainer::meet_bad_numbers(const NotFinite& found, std::span<const parallel::Feed> feeds, const optim::Step& step,
                               std::int64_t epoch) {
  job_.strategy->undo(*replica_);
  const BadNumbers& numbers = job_.numbers;
  const std::string rate = fmt::format("a smaller learning rate than {:g} may help", step.learning_rate);
  if (!tries_again())
    end_by_bad_numbers(found, feeds, step, epoch, rate + ", or train.bad_numbers = 'skip' or 'rewind'");
  ++position_.bad_steps;
  ++position_.bad_in_a_row;
  BadStep bad{step.index, epoch, found.what()};
  if (numbers.policy == Policy::rewind) {
    if (position_.rewinds >= numbers.rewinds)
      end_by_bad_numbers(
          found, feeds, step, epoch,
          fmt::format("the run went back {} times, as often as train.rewinds allows; {}", position_.rewinds, rate));
    bad.back_to = go_back();
  } else if (position_.bad_in_a_row >= numbers.skips_in_a_row) {
    end_by_bad_numbers(found, feeds, step, epoch,
                       fmt::format("{} bad steps in a row were skipped, as many as train.skips_in_a_row allows; {}",
                                   position_.bad_in_a_row, rate));
  }
  bad.bad = bad_steps();
  if (first())
    for (Sink* sink : sinks_) sink->bad_step(bad);
}

// The model alone goes back: samples, steps and rates go on, so that no batch is met twice.
std::int64_t Trainer::go_back() {
  const Snapshot& good = good_states_.go_back(position_);
  std::ranges::fill(kept().numbers, 0.0);  // what is under way now, also where nothing was then
  restore(good, *store_, kept());
  ++position_.rewinds;
  position_.rate_scale *= job_.numbers.rewind_rate;
  position_.undone = position_.step - (good.position.step - good.position.undone);
  return good.position.step;
}

// What a strategy had under way may be bad too; it has dropped that then and can go on.
void Trainer::finish_updates() {
  while (true) {
    try {
      return job_.strategy->finish(*replica_);
    } catch (const NotFinite& found) {
      if (!tries_again()) fail("the last updates, after step {}: {}", position_.step, found.what());
      ++position_.bad_steps;
      const BadStep bad{position_.step, position_.epoch + 1, found.what(), {}, bad_steps()};
      if (first())
        for (Sink* sink : sinks_) sink->bad_step(bad);
    }
  }
}

// The rank where it happened first tells it, the others wait for that.
void Trainer::end_by_bad_numbers(const NotFinite& found, std::span<const parallel::Feed> feeds, const optim::Step& step,
                                 std::int64_t epoch, const std::string& advice) {
  world_.note(fmt::format("step {}: looking for bad numbers", step.index));
  const Cause cause = find_cause(*executor_, *store_, feeds, *job_.train_data);
  const std::vector<std::int64_t> orders = comm::all_gather_number(*talk_, cause.order);
  const auto earliest = std::ranges::min_element(orders);
  if (earliest - orders.begin() != world_.rank()) sum_over_ranks(*talk_, {});
  const std::string where = world_.size() > 1 ? fmt::format(" on rank {}", world_.rank()) : "";
  std::string text = fmt::format("step {} (epoch {}): {}", step.index, epoch, found.what());
  if (*earliest != Cause::none) text += fmt::format("; first{}: {}", where, cause.text);
  else
    text +=
        found.updated > 0
            ? fmt::format("; run again, with {} parameters updated meanwhile, all tensors were finite", found.updated)
            : "; run again all tensors were finite: it came from their sum";
  fail("{}; {}", text, advice);
}

}  // namespace isobar::train
