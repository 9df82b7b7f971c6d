#include "isobar/graph/rehearsal.hpp"

#include <algorithm>

namespace isobar::graph {
namespace {

// About one or two current cores; what matters is the ratio, of a convolution to a pass over memory.
constexpr double flops_per_second = 2e11, bytes_per_second = 1e10;

std::size_t aligned_bytes(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace

double estimated_seconds(const PlanStep& step) {
  return std::max((step.flops + step.again_flops) / flops_per_second, step.bytes / bytes_per_second);
}

Rehearsal::Move Rehearsal::move_of(const PlanStep& step, const std::vector<BufferId>& wishes) {
  Move move;
  const auto first_write = step.buffers.begin() + step.reads;
  move.reads.assign(step.buffers.begin(), first_write);
  move.writes.assign(first_write, step.buffers.end());
  for (const BufferId wish : wishes) {
    const auto found = std::find(move.reads.begin(), move.reads.end(), wish);
    move.wishes.push_back(!wish || found == move.reads.end() ? -1 : found - move.reads.begin());
  }
  move.view = !step.run;
  move.seconds = estimated_seconds(step);
  return move;
}

Rehearsal::Rehearsal(const Plan& plan, const Wishes& wishes, const std::map<StepId, Repeat>& repeats, bool in_place)
    : forward_end_(plan.forward_steps), facts_(plan.buffers.size()), in_place_(in_place) {
  for (const BufferId b : facts_.ids()) {
    facts_[b].bytes = aligned_bytes(plan.buffers[b].bytes);
    facts_[b].gradient = plan.gradients_in_arena && plan.buffers[b].home == Home::gradient;
    facts_[b].arena = plan.buffers[b].home == Home::arena || facts_[b].gradient;
  }
  for (const auto& [name, b] : plan.outputs) facts_[b].output = true;
  for (const PlanStep& step : plan.steps) {
    std::vector<BufferId> wanted;
    for (std::size_t i = step.reads; i < step.buffers.size(); ++i) wanted.push_back(wishes[step.buffers[i]]);
    moves_.push_back(move_of(step, wanted));
  }
  for (const StepId s : ids(StepId(0), forward_end_)) {
    const auto found = repeats.find(s);
    repeats_.push_back(found == repeats.end() ? moves_[s] : move_of(found->second.step, found->second.wishes));
    const std::vector<BufferId>& made = repeats_.back().writes;
    if (plan.steps[s].talk) continue;  // no message is sent twice
    if (std::all_of(made.begin(), made.end(), [&](BufferId b) { return facts_[b].arena; }))
      for (const BufferId b : made) facts_[b].maker = s;
  }
  for (const StepId s : ids(forward_end_, moves_.next()))
    for (const BufferId b : moves_[s].reads) facts_[b].read_in_backward = true;
  for (const BufferId b : facts_.ids())
    if (facts_[b].maker && facts_[b].read_in_backward && !facts_[b].output) candidates_.push_back(b);
}

double Rehearsal::seconds_of(BufferId buffer) const { return repeats_[facts_[buffer].maker].seconds; }

// Buffers that backward does not read are gone after the forward pass, and recomputed if a later step needs them.
bool Rehearsal::kept(BufferId buffer) const {
  const Fact& fact = facts_[buffer];
  return !fact.maker || fact.output || (fact.read_in_backward && !(*dropped_)[buffer]);
}

// The buffer that holds these numbers now; recomputes them if there is none.
BufferId Rehearsal::present(BufferId buffer) {
  if (kept(buffer)) return buffer;
  if (!current_[buffer]) make_again(facts_[buffer].maker);
  return current_[buffer];
}

void Rehearsal::make_again(StepId step) {
  std::vector<BufferId> reads;
  for (const BufferId b : repeats_[step].reads) reads.push_back(present(b));
  put(repeats_[step], step, true, reads);
}

void Rehearsal::put(const Move& move, StepId step, bool again, const std::vector<BufferId>& reads) {
  items_.push_back({step, again, ports_.size()});
  ports_.insert(ports_.end(), reads.begin(), reads.end());
  if (!again) {
    ports_.insert(ports_.end(), move.writes.begin(), move.writes.end());
    return;
  }
  seconds_ += move.seconds;
  for (const BufferId b : move.writes) {
    ports_.push_back(facts_.next() + copies_.size());
    current_[b] = ports_.back();
    copies_.push_back(b);
  }
}

Rehearsal::Score Rehearsal::play(const Dropped& dropped, std::size_t target) {
  dropped_ = &dropped;
  items_.clear(), ports_.clear(), copies_.clear();
  current_.assign(facts_.size(), {});
  seconds_ = 0;
  std::vector<BufferId> reads;
  for (const StepId s : moves_.ids()) {
    if (s < forward_end_) {
      put(moves_[s], s, false, moves_[s].reads);
      continue;
    }
    reads.clear();
    for (const BufferId b : moves_[s].reads) reads.push_back(present(b));
    put(moves_[s], s, false, reads);
  }
  find_storages();
  return measure(target);
}

// As in plan_memory(): which buffers may overwrite which, and the lifetimes of storages.
void Rehearsal::find_storages() {
  const int end = std::ssize(items_);
  storages_.clear();
  const auto add = [&](const Fact& fact, int last) {
    storages_.push_back({fact.bytes, end, last, fact.arena, fact.gradient, storages_.next()});
  };
  for (const Fact& fact : facts_) add(fact, fact.output || fact.gradient ? end : -1);
  for (const BufferId b : copies_) add(facts_[b], -1);
  const auto ports_of = [&](int i) {
    return std::pair(items_[i].first_port, i + 1 < end ? items_[i + 1].first_port : ports_.size());
  };
  for (int i = 0; i < end; ++i)
    for (auto [port, last] = ports_of(i); port < last; ++port) {
      Storage& storage = storages_[ports_[port]];
      storage.first = std::min(storage.first, i);
      storage.last = std::max(storage.last, i);
    }
  for (int i = 0; i < end; ++i) {
    const Item& item = items_[i];
    const Move& move = item.again ? repeats_[item.step] : moves_[item.step];
    for (std::size_t w = 0; w < move.writes.size(); ++w) {
      if (move.wishes[w] < 0) continue;
      const BufferId b = ports_[item.first_port + move.reads.size() + w];
      const BufferId root = storages_[ports_[item.first_port + move.wishes[w]]].root;
      Storage &mine = storages_[b], &theirs = storages_[root];
      const bool fits = mine.arena && !mine.gradient && mine.bytes == theirs.bytes;
      const bool may_write = in_place_ && theirs.arena && !theirs.gradient && theirs.last <= i;
      if (!(move.view ? fits : fits && may_write)) continue;
      mine.root = root;
      theirs.last = std::max(theirs.last, mine.last);
      mine.arena = false;  // counted with the root
    }
  }
}

Rehearsal::Score Rehearsal::measure(std::size_t target) {
  Score score;
  score.seconds = seconds_;
  score.target = target;
  change_.assign(items_.size() + 2, 0);
  for (const Storage& storage : storages_) {
    if (!storage.arena || storage.last < storage.first) continue;
    change_[storage.first] += storage.bytes;
    change_[storage.last + 1] -= storage.bytes;
  }
  std::int64_t live = 0;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    live += change_[i];
    score.peak = std::max<std::size_t>(score.peak, live);
    score.excess += std::max(0.0, static_cast<double>(live) - target);
  }
  return score;
}

}  // namespace isobar::graph
