#include "isobar/train/bad_step_policy.hpp"

#include <algorithm>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"
#include "isobar/train/agreement.hpp"
#include "isobar/train/diagnosis.hpp"

namespace isobar::train {

using parallel::NotFinite;

std::string BadSteps::str() const {
  if (steps == 0) return "";
  std::string text = fmt::format("{} step{} with bad numbers", with_commas(steps), steps == 1 ? "" : "s");
  if (rewinds > 0) text += fmt::format(", {} rewind{}", rewinds, rewinds == 1 ? "" : "s");
  if (rate_scale != 1) text += fmt::format(", learning rate x {:.4g}", rate_scale);
  return text;
}

BadSteps bad_steps_of(const checkpoint::Position& position) {
  return {position.bad_steps, position.rewinds, position.rate_scale};
}

void BadStepPolicy::meet(const NotFinite& found, std::span<const parallel::Feed> feeds, const optim::Step& step,
                         std::int64_t epoch) {
  const BadNumbers& numbers = session_.job().numbers;
  checkpoint::Position& position = keeper_.position();
  const std::string rate = fmt::format("a smaller learning rate than {:g} may help", step.learning_rate);
  if (!numbers.tries_again()) end_run(found, feeds, step, epoch, rate + ", or train.bad_numbers = 'skip' or 'rewind'");
  ++position.bad_steps;
  ++position.bad_in_a_row;
  BadStep bad{step.index, epoch, found.what()};
  if (numbers.policy == BadNumbers::Policy::rewind) {
    if (position.rewinds >= numbers.rewinds)
      end_run(found, feeds, step, epoch,
              fmt::format("the run went back {} times, as often as train.rewinds allows; {}", position.rewinds, rate));
    bad.back_to = keeper_.go_back();
  } else if (position.bad_in_a_row >= numbers.skips_in_a_row) {
    end_run(found, feeds, step, epoch,
            fmt::format("{} bad steps in a row were skipped, as many as train.skips_in_a_row allows; {}",
                        position.bad_in_a_row, rate));
  }
  bad.bad = bad_steps_of(position);
  listeners_.bad_step(bad);
}

// Updates that a strategy had under way may be bad too; it has then dropped them and can continue.
void BadStepPolicy::finish_updates() {
  checkpoint::Position& position = keeper_.position();
  while (true) {
    try {
      return session_.strategy().settle(*session_.network().replica, parallel::Settle::updates);
    } catch (const NotFinite& found) {
      if (!session_.job().numbers.tries_again())
        fail("the last updates, after step {}: {}", position.step, found.what());
      ++position.bad_steps;
      listeners_.bad_step({position.step, position.epoch + 1, found.what(), {}, bad_steps_of(position)});
    }
  }
}

// The rank where it happened first reports it, and the others wait for that.
void BadStepPolicy::end_run(const NotFinite& found, std::span<const parallel::Feed> feeds, const optim::Step& step,
                            std::int64_t epoch, const std::string& advice) {
  comm::Comm& world = session_.talk();
  world.note(fmt::format("step {}: looking for bad numbers", step.index));
  const Cause cause = find_cause(*session_.network().trains, session_.store(), feeds, *session_.job().train_data);
  const std::vector<std::int64_t> orders = comm::all_gather_number(session_.talk(), cause.order);
  const auto earliest = std::ranges::min_element(orders);
  if (earliest - orders.begin() != world.rank()) barrier(session_.talk());
  const std::string where = world.size() > 1 ? fmt::format(" on rank {}", world.rank()) : "";
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
