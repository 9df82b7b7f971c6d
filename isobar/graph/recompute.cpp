#include "isobar/graph/recompute.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"
#include "isobar/graph/drop_search.hpp"
#include "isobar/graph/plan.hpp"
#include "isobar/graph/rehearsal.hpp"

namespace isobar::graph {
namespace {

PlanStep made_again(PlanStep step) {
  step.kernel += " again";
  step.again = true;
  step.again_flops = std::exchange(step.flops, 0);
  step.final_parameters.clear();
  return step;
}

// The plan of the last rehearsal, without offsets; `wishes` is extended by the copies.
Plan performed(const Rehearsal& rehearsal, const Plan& lowered, const std::map<StepId, Repeat>& repeats,
               Wishes& wishes) {
  Plan plan = lowered;
  plan.steps.clear();
  for (const BufferId of : rehearsal.copies()) {
    Buffer copy = lowered.buffers[of];
    copy.name += " again";
    plan.buffers.push_back(std::move(copy));
    wishes.push_back({});
  }
  for (const Rehearsal::Item& item : rehearsal.items()) {
    const auto repeat = item.again ? repeats.find(item.step) : repeats.end();
    PlanStep step = repeat == repeats.end() ? lowered.steps[item.step] : repeat->second.step;
    if (item.again) step = made_again(std::move(step));
    const std::vector<BufferId> old = step.buffers;
    for (std::size_t i = 0; i < step.buffers.size(); ++i) step.buffers[i] = rehearsal.ports()[item.first_port + i];
    const auto reads_end = old.begin() + step.reads;
    for (std::size_t i = step.reads; i < old.size(); ++i) {
      const BufferId wish = repeat == repeats.end() ? wishes[old[i]] : repeat->second.wishes[i - step.reads];
      const auto read = std::find(old.begin(), reads_end, wish);
      if (read == reads_end) continue;
      wishes[step.buffers[i]] = step.buffers[read - old.begin()];
    }
    plan.steps.push_back(std::move(step));
  }
  return plan;
}

// The largest storages at the step with the most live bytes, as a list for display.
std::string largest_alive(const Plan& plan) {
  const auto live = live_bytes(plan);
  const StepId peak(std::ranges::max_element(live) - live.begin());
  std::vector<const Buffer*> alive;
  for (const Buffer& b : plan.buffers)
    if (b.home == Home::arena && !b.shares_with && b.first <= peak && peak <= b.last) alive.push_back(&b);
  std::stable_sort(alive.begin(), alive.end(), [](const Buffer* a, const Buffer* b) { return a->bytes > b->bytes; });
  std::vector<std::string> named;
  for (std::size_t i = 0; i < std::min<std::size_t>(4, alive.size()); ++i)
    named.push_back(fmt::format("'{}' {}", alive[i]->name, human_bytes(alive[i]->bytes)));
  const PlanStep& step = plan.steps[peak];
  return fmt::format("'{}' ({}): {}", step.name, step.kernel, join(named, ", "));
}

[[noreturn]] void fail_to_fit(const Plan& least, std::size_t limit) {
  const auto bytes = [](std::size_t count) { return human_bytes(count); };
  const std::size_t weights = least.memory_bytes() - least.arena_bytes;
  if (weights >= limit)
    fail("the plan does not fit into {}: weights, gradients and optimizer state alone need {}", bytes(limit),
         bytes(weights));
  const std::string help = least.rows > 1 ? fmt::format("a batch of less than {} would need less", least.rows)
                                          : "the batch is 1 already: smaller samples or fewer channels would need less";
  fail(
      "the plan does not fit into {}: the least it was found to need, with {} steps computed again, is {}{}; most is "
      "alive at {}; {}",
      bytes(limit), least.again_steps(), bytes(least.memory_bytes()),
      weights > 0 ? fmt::format(", {} of it for weights, gradients and optimizer state", bytes(weights)) : "",
      largest_alive(least), help);
}

class Fitting {
 public:
  Fitting(const Plan& lowered, const Wishes& wishes, const std::map<StepId, Repeat>& repeats,
          const PlanOptions& options)
      : lowered_(lowered),
        wishes_(wishes),
        repeats_(repeats),
        options_(options),
        rehearsal_(lowered, wishes, repeats, options.in_place) {}

  /// A plan whose arena has at most `room` bytes, or nothing if none was found. The layout decides: as long as gaps
  /// between buffers make the arena too large, the search aims lower.
  std::optional<Plan> within(std::size_t room) {
    DropSearch search(rehearsal_, lowered_.buffers.size());
    std::size_t target = room;
    for (int i = 0; i < layouts_tried && search.reach(target); ++i) {
      rehearsal_.play(search.dropped(), target);
      Wishes wishes = wishes_;
      Plan plan = performed(rehearsal_, lowered_, repeats_, wishes);
      plan_memory(plan, wishes, options_);
      if (plan.arena_bytes <= room) return plan;
      target -= std::min(target, std::max(plan.arena_bytes - room, target / 100));
    }
    return std::nullopt;
  }

  /// The smallest plan found between a size that did not fit and one that does.
  Plan least(std::size_t low, Plan fits) {
    for (int i = 0; i < halvings; ++i) {
      const std::size_t middle = low + (fits.arena_bytes - low) / 2;
      if (std::optional<Plan> plan = within(middle)) fits = std::move(*plan);
      else low = middle;
    }
    return fits;
  }

 private:
  static constexpr int layouts_tried = 16, halvings = 7;

  const Plan& lowered_;
  const Wishes& wishes_;
  const std::map<StepId, Repeat>& repeats_;
  const PlanOptions& options_;
  Rehearsal rehearsal_;
};

}  // namespace

Plan fit_memory(const Plan& lowered, const Wishes& wishes, const std::map<StepId, Repeat>& repeats,
                const PlanOptions& options) {
  Plan whole = lowered;
  plan_memory(whole, wishes, options);
  if (whole.memory_bytes() <= options.memory_limit) return whole;
  const std::size_t kept_arena_bytes = whole.arena_bytes, weights = whole.memory_bytes() - whole.arena_bytes;
  if (weights >= options.memory_limit) fail_to_fit(whole, options.memory_limit);
  const std::size_t room = options.memory_limit - weights;
  Fitting fitting(lowered, wishes, repeats, options);
  std::optional<Plan> plan = fitting.within(room);
  if (!plan) fail_to_fit(fitting.least(room, std::move(whole)), options.memory_limit);
  plan->kept_arena_bytes = kept_arena_bytes;
  return std::move(*plan);
}

AgainCost again_cost(const Plan& plan) {
  double once = 0, again = 0;
  for (const PlanStep& step : plan.steps) (step.again ? again : once) += estimated_seconds(step);
  return {plan.flops() > 0 ? plan.again_flops() / plan.flops() : 0, once > 0 ? again / once : 0};
}

std::string memory_text(const Plan& plan, std::size_t limit) {
  const auto bytes = [](std::size_t count) { return human_bytes(count); };
  const std::size_t weights = plan.memory_bytes() - plan.arena_bytes;
  const bool inside = plan.gradients_in_arena;
  std::string text = fmt::format("memory {}: arena {}{}, weights{} and optimizer state {}\n",
                                 bytes(plan.memory_bytes()), bytes(plan.arena_bytes), inside ? " with gradients" : "",
                                 inside ? "" : ", gradients", bytes(weights));
  if (plan.kept_arena_bytes > 0) {
    const AgainCost cost = again_cost(plan);
    text += fmt::format(
        "without computing anything again: {}; {} steps are computed again, {}, {:.1f} % more work, about "
        "{:.1f} % more time\n",
        bytes(plan.kept_arena_bytes + weights), plan.again_steps(), human_flops(plan.again_flops()), 100 * cost.work,
        100 * cost.time);
  } else if (limit > 0) {
    text += "nothing has to be computed again\n";
  }
  if (limit > 0) text += fmt::format("fits into {}\n", bytes(limit));
  return text;
}

}  // namespace isobar::graph
