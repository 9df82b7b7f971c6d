// The search starts with nothing dropped and drops, one after the other, the buffer that saves most for its time,
// where saving is what lies above the limit, added up over all steps. What turned out not to be needed is kept after
// all. The layout decides in the end: as long as gaps between buffers make it too large, the search aims lower.
#include "isobar/graph/recompute.hpp"

#include <algorithm>
#include <limits>
#include <queue>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"
#include "isobar/graph/live_bytes.hpp"
#include "isobar/graph/rehearsal.hpp"

namespace isobar::graph {
namespace {

using Dropped = Rehearsal::Dropped;
using Score = Rehearsal::Score;

constexpr int layouts_tried = 16;  ///< each aims lower than the one before

class Search {
 public:
  Search(Rehearsal& rehearsal, std::size_t buffers) : rehearsal_(rehearsal), dropped_(buffers, 0) {
    double all = 0;
    for (const int b : rehearsal.candidates()) all += rehearsal.seconds_of(b);
    free_ = 1e-6 * all + std::numeric_limits<double>::min();
  }

  const Dropped& dropped() const { return dropped_; }

  /// Drops more until the bytes alive fit the target; whether they do.
  bool reach(std::size_t target) {
    now_ = rehearsal_.play(dropped_, target);
    do drop_the_best(target);
    while (!now_.fits() && flip_one(target));
    if (!now_.fits()) return false;
    keep_the_needless(target);
    return true;
  }

 private:
  Score flipped(int b, std::size_t target) {
    char& state = dropped_[static_cast<std::size_t>(b)];
    state = !state;
    const Score score = rehearsal_.play(dropped_, target);
    state = !state;
    return score;
  }

  void flip(int b, const Score& score) {
    char& state = dropped_[static_cast<std::size_t>(b)];
    state = !state;
    now_ = score;
  }

  // What a buffer saves changes little when another is dropped, so that only the best few are asked again each time.
  void drop_the_best(std::size_t target) {
    using Offer = std::pair<double, int>;  // excess saved for a second; buffer
    std::priority_queue<Offer> offers;
    std::vector<int> useless;
    bool changed = false;
    for (const int b : rehearsal_.candidates())
      if (!dropped_[static_cast<std::size_t>(b)]) useless.push_back(b);
    for (changed = true; !now_.fits();) {
      if (offers.empty()) {
        if (!changed) return;
        for (const int b : useless) offers.emplace(std::numeric_limits<double>::infinity(), b);
        useless.clear();
        changed = false;
        if (offers.empty()) return;
      }
      const int b = offers.top().second;
      offers.pop();
      const Score then = flipped(b, target);
      const double worth = (now_.excess - then.excess) / (std::max(0.0, then.seconds - now_.seconds) + free_);
      if (worth <= 0) {
        useless.push_back(b);
      } else if (offers.empty() || worth >= offers.top().first) {
        flip(b, then);
        changed = true;
      } else {
        offers.emplace(worth, b);
      }
    }
  }

  // Where dropping more does not help, keeping one in the middle of a long segment may.
  bool flip_one(std::size_t target) {
    int best = -1;
    Score best_score = now_;
    for (const int b : rehearsal_.candidates()) {
      const Score then = flipped(b, target);
      if (then.excess < best_score.excess) best = b, best_score = then;
    }
    if (best < 0) return false;
    flip(best, best_score);
    return true;
  }

  void keep_the_needless(std::size_t target) {
    std::vector<int> costly;
    for (const int b : rehearsal_.candidates())
      if (dropped_[static_cast<std::size_t>(b)]) costly.push_back(b);
    std::stable_sort(costly.begin(), costly.end(),
                     [&](int a, int b) { return rehearsal_.seconds_of(a) > rehearsal_.seconds_of(b); });
    for (const int b : costly) {
      const Score then = flipped(b, target);
      if (then.fits() && then.seconds <= now_.seconds) flip(b, then);
    }
  }

  Rehearsal& rehearsal_;
  Dropped dropped_;
  Score now_;
  double free_;  // seconds that count as none
};

PlanStep made_again(PlanStep step) {
  step.kernel += " again";
  step.again = true;
  step.again_flops = std::exchange(step.flops, 0);
  step.final_parameters.clear();
  return step;
}

// The plan as the rehearsal went through it last, without offsets; `wishes` grows with the copies.
Plan performed(const Rehearsal& rehearsal, const Plan& lowered, const std::map<std::size_t, Repeat>& repeats,
               std::vector<int>& wishes) {
  Plan plan = lowered;
  plan.steps.clear();
  for (const int of : rehearsal.copies()) {
    Buffer copy = lowered.buffers[static_cast<std::size_t>(of)];
    copy.name += " again";
    plan.buffers.push_back(std::move(copy));
    wishes.push_back(-1);
  }
  for (const Rehearsal::Item& item : rehearsal.items()) {
    const auto s = static_cast<std::size_t>(item.step);
    const auto repeat = item.again ? repeats.find(s) : repeats.end();
    PlanStep step = repeat == repeats.end() ? lowered.steps[s] : repeat->second.step;
    if (item.again) step = made_again(std::move(step));
    const std::vector<int> old = step.buffers;
    for (std::size_t i = 0; i < step.buffers.size(); ++i) step.buffers[i] = rehearsal.ports()[item.first_port + i];
    const auto reads_end = old.begin() + static_cast<std::ptrdiff_t>(step.reads);
    for (std::size_t i = step.reads; i < old.size(); ++i) {
      const int wish =
          repeat == repeats.end() ? wishes[static_cast<std::size_t>(old[i])] : repeat->second.wishes[i - step.reads];
      const auto read = std::find(old.begin(), reads_end, wish);
      if (read == reads_end) continue;
      wishes[static_cast<std::size_t>(step.buffers[i])] = step.buffers[static_cast<std::size_t>(read - old.begin())];
    }
    plan.steps.push_back(std::move(step));
  }
  return plan;
}

// The largest storages at the step where most is alive, as a list for people.
std::string largest_alive(const Plan& plan) {
  const std::vector<std::size_t> live = live_bytes(plan);
  const auto peak = static_cast<int>(std::max_element(live.begin(), live.end()) - live.begin());
  std::vector<const Buffer*> alive;
  for (const Buffer& b : plan.buffers)
    if (b.home == Home::arena && b.shares_with < 0 && b.first <= peak && peak <= b.last) alive.push_back(&b);
  std::stable_sort(alive.begin(), alive.end(), [](const Buffer* a, const Buffer* b) { return a->bytes > b->bytes; });
  std::vector<std::string> named;
  for (std::size_t i = 0; i < std::min<std::size_t>(4, alive.size()); ++i)
    named.push_back(fmt::format("'{}' {}", alive[i]->name, human_bytes(static_cast<double>(alive[i]->bytes))));
  const PlanStep& step = plan.steps[static_cast<std::size_t>(peak)];
  return fmt::format("'{}' ({}): {}", step.name, step.kernel, join(named, ", "));
}

[[noreturn]] void fail_to_fit(const Plan& least, const PlanOptions& options) {
  const std::int64_t batch = least.inputs.empty() ? 1 : least.inputs[0].shape[0];
  const std::size_t weights = least.memory_bytes() - least.arena_bytes;
  const std::string help = batch > 1 ? fmt::format("a batch of less than {} would need less", batch)
                                     : "the batch is 1 already: smaller samples or fewer channels would need less";
  fail("the plan does not fit into {}: with all that helps computed again it needs {}{}; most is alive at {}; {}",
       human_bytes(static_cast<double>(options.memory_limit)), human_bytes(static_cast<double>(least.memory_bytes())),
       weights > 0 ? fmt::format(", {} of it for weights, gradients and optimizer state",
                                 human_bytes(static_cast<double>(weights)))
                   : "",
       largest_alive(least), help);
}

}  // namespace

Plan fit_memory(const Plan& lowered, const std::vector<int>& wishes, const std::map<std::size_t, Repeat>& repeats,
                const PlanOptions& options) {
  Plan least = lowered;
  plan_memory(least, wishes, options);
  if (least.memory_bytes() <= options.memory_limit) return least;
  const std::size_t kept_arena_bytes = least.arena_bytes, weights = least.memory_bytes() - least.arena_bytes;
  if (weights >= options.memory_limit) fail_to_fit(least, options);
  const std::size_t room = options.memory_limit - weights;

  Rehearsal rehearsal(lowered, wishes, repeats, options.in_place);
  Search search(rehearsal, lowered.buffers.size());
  std::size_t target = room;
  for (int i = 0; i < layouts_tried; ++i) {
    const bool fits = search.reach(target);
    rehearsal.play(search.dropped(), target);
    std::vector<int> all_wishes = wishes;
    Plan plan = performed(rehearsal, lowered, repeats, all_wishes);
    plan_memory(plan, all_wishes, options);
    plan.kept_arena_bytes = kept_arena_bytes;
    if (plan.arena_bytes <= room) return plan;
    if (plan.arena_bytes < least.arena_bytes) least = plan;
    if (!fits) break;
    target -= std::min(target, std::max(plan.arena_bytes - room, target / 100));
  }
  fail_to_fit(least, options);
}

AgainCost again_cost(const Plan& plan) {
  double once = 0, again = 0;
  for (const PlanStep& step : plan.steps) (step.again ? again : once) += estimated_seconds(step);
  return {plan.flops() > 0 ? plan.again_flops() / plan.flops() : 0, once > 0 ? again / once : 0};
}

std::string memory_text(const Plan& plan, std::size_t limit) {
  const auto bytes = [](std::size_t count) { return human_bytes(static_cast<double>(count)); };
  const std::size_t weights = plan.memory_bytes() - plan.arena_bytes;
  std::string text = fmt::format("memory {}: arena {}, weights, gradients and optimizer state {}\n",
                                 bytes(plan.memory_bytes()), bytes(plan.arena_bytes), bytes(weights));
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
