#include "isobar/graph/hoist.hpp"

#include <algorithm>

namespace isobar::graph {
namespace {

using Phase = ops::Talk::Phase;
using Order = std::vector<StepId>;

bool talks(const PlanStep& step, Phase phase) { return step.talk && step.talk->phase == phase; }

// For every step, the earlier ones that it must come after: those that wrote what it touches, or read what it writes.
class Dependencies {
 public:
  explicit Dependencies(const Plan& plan) : needs_(plan.steps.size()) {
    IdVector<BufferId, Users> users(plan.buffers.size());
    for (const StepId s : plan.steps.ids()) {
      const PlanStep& step = plan.steps[s];
      for (std::size_t i = 0; i < step.buffers.size(); ++i) {
        Users& of = users[step.buffers[i]];
        const bool writes = i >= step.reads;
        if (of.writer && of.writer != s) needs_[s].push_back(of.writer);
        if (writes)
          for (const StepId reader : of.readers)
            if (reader != s) needs_[s].push_back(reader);
        if (writes) of = {s, {}};
        else of.readers.push_back(s);
      }
    }
  }

  const Order& of(StepId s) const { return needs_[s]; }

 private:
  struct Users {
    StepId writer{};
    Order readers{};
  };
  IdVector<StepId, Order> needs_;
};

// What a start does not need moves behind it, back to the talk before.
void begin_early(const Plan& plan, const Dependencies& needs, Order& order) {
  std::size_t window = 0;
  for (std::size_t at = 0; at < order.size(); ++at) {
    const PlanStep& step = plan.steps[order[at]];
    if (!step.talk) continue;
    if (step.talk->phase == Phase::start) {
      IdVector<StepId, char> needed(plan.steps.size());
      needed[order[at]] = true;
      for (std::size_t i = at + 1; i-- > window;)
        if (needed[order[i]])
          for (const StepId before : needs.of(order[i])) needed[before] = true;
      const auto first = order.begin() + window, last = order.begin() + at + 1;
      std::stable_partition(first, last, [&](StepId s) { return needed[s]; });
      at = std::find_if(first, last, [&](StepId s) { return talks(plan.steps[s], Phase::start); }) - order.begin();
    }
    window = at + 1;
  }
}

// A finish and the kernels that unpack what has arrived wait until something needs them.
Order end_late(const Plan& plan, const Dependencies& needs, const Order& order) {
  Order late, result;
  IdVector<StepId, char> unpacks(plan.steps.size()), delayed(plan.steps.size());
  const auto let_go = [&](const std::vector<StepId>& wanted) {
    IdVector<StepId, char> now(plan.steps.size());
    for (const StepId s : wanted) now[s] = true;
    for (auto s = late.rbegin(); s != late.rend(); ++s)
      if (now[*s])
        for (const StepId before : needs.of(*s)) now[before] = true;
    const auto rest = std::stable_partition(late.begin(), late.end(), [&](StepId s) { return now[s]; });
    for (auto s = late.begin(); s != rest; ++s) delayed[*s] = false;
    result.insert(result.end(), late.begin(), rest);
    late.erase(late.begin(), rest);
  };
  for (const StepId s : order) {
    const PlanStep& step = plan.steps[s];
    const bool finishes = talks(step, Phase::finish);
    Order waited_for;
    for (const StepId before : needs.of(s))
      if (delayed[before]) waited_for.push_back(before);
    const bool unpacking =
        !step.talk && step.category == Category::communication && !waited_for.empty() &&
        std::ranges::all_of(waited_for, [&](StepId b) { return talks(plan.steps[b], Phase::finish); });
    if (finishes || unpacking) {
      late.push_back(s);
      delayed[s] = true;
      continue;
    }
    if (!waited_for.empty()) let_go(waited_for);
    result.push_back(s);
  }
  result.insert(result.end(), late.begin(), late.end());
  return result;
}

}  // namespace

void hoist_messages(Plan& plan, std::map<StepId, Repeat>& repeats) {
  if (std::ranges::none_of(plan.steps, [](const PlanStep& step) { return step.talk.has_value(); })) return;
  const Dependencies needs(plan);
  const StepId middle(plan.forward_steps);
  Order order;
  for (const auto& [first, last] : {std::pair(StepId(0), middle), std::pair(middle, plan.steps.next())}) {
    Order pass;
    for (const StepId s : ids(first, last)) pass.push_back(s);
    begin_early(plan, needs, pass);
    pass = end_late(plan, needs, pass);
    order.insert(order.end(), pass.begin(), pass.end());
  }
  IdVector<StepId, PlanStep> steps;
  std::map<StepId, Repeat> moved;
  for (const StepId old : order) {
    const StepId now = steps.add(std::move(plan.steps[old]));
    if (const auto found = repeats.find(old); found != repeats.end()) moved.emplace(now, std::move(found->second));
  }
  plan.steps = std::move(steps);
  repeats = std::move(moved);
}

}  // namespace isobar::graph
