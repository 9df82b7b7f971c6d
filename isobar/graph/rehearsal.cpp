#include "isobar/graph/rehearsal.hpp"

#include <algorithm>
#include <numeric>

namespace isobar::graph {
namespace {

// A core or two of today: what matters is the relation of the two, a convolution against a pass over memory.
constexpr double flops_per_second = 2e11, bytes_per_second = 1e10;

std::size_t aligned_bytes(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

std::size_t at(int index) { return static_cast<std::size_t>(index); }

}  // namespace

double estimated_seconds(const PlanStep& step) {
  return std::max((step.flops + step.again_flops) / flops_per_second, step.bytes / bytes_per_second);
}

Rehearsal::Move Rehearsal::move_of(const PlanStep& step, const std::vector<int>& wishes) {
  Move move;
  const auto first_write = step.buffers.begin() + static_cast<std::ptrdiff_t>(step.reads);
  move.reads.assign(step.buffers.begin(), first_write);
  move.writes.assign(first_write, step.buffers.end());
  for (const int wish : wishes) {
    const auto found = std::find(move.reads.begin(), move.reads.end(), wish);
    move.wishes.push_back(wish < 0 || found == move.reads.end() ? -1 : static_cast<int>(found - move.reads.begin()));
  }
  move.view = !step.run;
  move.seconds = estimated_seconds(step);
  return move;
}

Rehearsal::Rehearsal(const Plan& plan, const std::vector<int>& wishes, const std::map<std::size_t, Repeat>& repeats,
                     bool in_place)
    : forward_steps_(plan.forward_steps), facts_(plan.buffers.size()), in_place_(in_place) {
  for (std::size_t b = 0; b < facts_.size(); ++b) {
    facts_[b].bytes = aligned_bytes(plan.buffers[b].bytes);
    facts_[b].gradient = plan.gradients_in_arena && plan.buffers[b].home == Home::gradient;
    facts_[b].arena = plan.buffers[b].home == Home::arena || facts_[b].gradient;
  }
  for (const auto& [name, b] : plan.outputs) facts_[at(b)].output = true;
  for (const PlanStep& step : plan.steps) {
    std::vector<int> wanted;
    for (std::size_t i = step.reads; i < step.buffers.size(); ++i) wanted.push_back(wishes[at(step.buffers[i])]);
    moves_.push_back(move_of(step, wanted));
  }
  for (std::size_t s = 0; s < forward_steps_; ++s) {
    const auto found = repeats.find(s);
    repeats_.push_back(found == repeats.end() ? moves_[s] : move_of(found->second.step, found->second.wishes));
    const std::vector<int>& made = repeats_.back().writes;
    if (std::all_of(made.begin(), made.end(), [&](int b) { return facts_[at(b)].arena; }))
      for (const int b : made) facts_[at(b)].maker = static_cast<int>(s);
  }
  for (std::size_t s = forward_steps_; s < moves_.size(); ++s)
    for (const int b : moves_[s].reads) facts_[at(b)].read_in_backward = true;
  for (std::size_t b = 0; b < facts_.size(); ++b)
    if (facts_[b].maker >= 0 && facts_[b].read_in_backward && !facts_[b].output)
      candidates_.push_back(static_cast<int>(b));
}

double Rehearsal::seconds_of(int buffer) const { return repeats_[at(facts_[at(buffer)].maker)].seconds; }

// What backward does not read is gone after the forward pass, and made again where a later step asks for it.
bool Rehearsal::kept(int buffer) const {
  const Fact& fact = facts_[at(buffer)];
  return fact.maker < 0 || fact.output || (fact.read_in_backward && !(*dropped_)[at(buffer)]);
}

// The buffer that holds these numbers now; makes them again if none does.
int Rehearsal::present(int buffer) {
  if (kept(buffer)) return buffer;
  if (current_[at(buffer)] < 0) make_again(facts_[at(buffer)].maker);
  return current_[at(buffer)];
}

void Rehearsal::make_again(int step) {
  std::vector<int> reads;
  for (const int b : repeats_[at(step)].reads) reads.push_back(present(b));
  put(repeats_[at(step)], step, true, reads);
}

void Rehearsal::put(const Move& move, int step, bool again, const std::vector<int>& reads) {
  items_.push_back({step, again, ports_.size()});
  ports_.insert(ports_.end(), reads.begin(), reads.end());
  if (!again) {
    ports_.insert(ports_.end(), move.writes.begin(), move.writes.end());
    return;
  }
  seconds_ += move.seconds;
  for (const int b : move.writes) {
    ports_.push_back(static_cast<int>(facts_.size() + copies_.size()));
    current_[at(b)] = ports_.back();
    copies_.push_back(b);
  }
}

Rehearsal::Score Rehearsal::play(const Dropped& dropped, std::size_t target) {
  dropped_ = &dropped;
  items_.clear(), ports_.clear(), copies_.clear();
  current_.assign(facts_.size(), -1);
  seconds_ = 0;
  std::vector<int> reads;
  for (std::size_t s = 0; s < moves_.size(); ++s) {
    if (s < forward_steps_) {
      put(moves_[s], static_cast<int>(s), false, moves_[s].reads);
      continue;
    }
    reads.clear();
    for (const int b : moves_[s].reads) reads.push_back(present(b));
    put(moves_[s], static_cast<int>(s), false, reads);
  }
  find_storages();
  return measure(target);
}

// As plan_memory() will do it: who may overwrite whom, and from when to when storages live.
void Rehearsal::find_storages() {
  const std::size_t count = facts_.size() + copies_.size();
  const int end = static_cast<int>(items_.size());
  storages_.assign(count, {});
  root_.resize(count);
  std::iota(root_.begin(), root_.end(), 0);
  for (std::size_t b = 0; b < count; ++b) {
    const Fact& fact = facts_[b < facts_.size() ? b : at(copies_[b - facts_.size()])];
    const bool output = b < facts_.size() && (fact.output || fact.gradient);
    storages_[b] = {fact.bytes, end, output ? end : -1, fact.arena, fact.gradient};
  }
  const auto ports_of = [&](std::size_t i) {
    return std::pair(items_[i].first_port, i + 1 < items_.size() ? items_[i + 1].first_port : ports_.size());
  };
  for (std::size_t i = 0; i < items_.size(); ++i)
    for (auto [port, last] = ports_of(i); port < last; ++port) {
      Storage& storage = storages_[at(ports_[port])];
      storage.first = std::min(storage.first, static_cast<int>(i));
      storage.last = std::max(storage.last, static_cast<int>(i));
    }
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const Item& item = items_[i];
    const Move& move = item.again ? repeats_[at(item.step)] : moves_[at(item.step)];
    for (std::size_t w = 0; w < move.writes.size(); ++w) {
      if (move.wishes[w] < 0) continue;
      const int b = ports_[item.first_port + move.reads.size() + w];
      const int root = root_[at(ports_[item.first_port + at(move.wishes[w])])];
      Storage &mine = storages_[at(b)], &theirs = storages_[at(root)];
      const bool fits = mine.arena && !mine.gradient && mine.bytes == theirs.bytes;
      const bool may_write = in_place_ && theirs.arena && !theirs.gradient && theirs.last <= static_cast<int>(i);
      if (!(move.view ? fits : fits && may_write)) continue;
      root_[at(b)] = root;
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
    change_[at(storage.first)] += static_cast<std::int64_t>(storage.bytes);
    change_[at(storage.last) + 1] -= static_cast<std::int64_t>(storage.bytes);
  }
  std::int64_t live = 0;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    live += change_[i];
    score.peak = std::max(score.peak, static_cast<std::size_t>(live));
    score.excess += std::max(0.0, static_cast<double>(live) - static_cast<double>(target));
  }
  return score;
}

}  // namespace isobar::graph
