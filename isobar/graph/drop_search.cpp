#include "isobar/graph/drop_search.hpp"

#include <algorithm>
#include <limits>
#include <queue>

namespace isobar::graph {

using Score = Rehearsal::Score;

DropSearch::DropSearch(Rehearsal& rehearsal, std::size_t buffers) : rehearsal_(rehearsal), dropped_(buffers, 0) {
  double all = 0;
  for (const BufferId b : rehearsal.candidates()) all += rehearsal.seconds_of(b);
  free_ = 1e-6 * all + std::numeric_limits<double>::min();
}

bool DropSearch::reach(std::size_t target) {
  now_ = rehearsal_.play(dropped_, target);
  do drop_the_best(target);
  while (!now_.fits() && flip_one(target));
  if (!now_.fits()) return false;
  keep_the_needless(target);
  return true;
}

Score DropSearch::flipped(BufferId b, std::size_t target) {
  char& state = dropped_[b];
  state = !state;
  const Score score = rehearsal_.play(dropped_, target);
  state = !state;
  return score;
}

void DropSearch::flip(BufferId b, const Score& score) {
  char& state = dropped_[b];
  state = !state;
  now_ = score;
}

// What a buffer saves changes little when another is dropped, so only the best few are evaluated again each time.
void DropSearch::drop_the_best(std::size_t target) {
  using Offer = std::pair<double, BufferId>;  // excess saved per second; buffer
  std::priority_queue<Offer> offers;
  std::vector<BufferId> useless;
  bool changed = false;
  for (const BufferId b : rehearsal_.candidates())
    if (!dropped_[b]) useless.push_back(b);
  for (changed = true; !now_.fits();) {
    if (offers.empty()) {
      if (!changed) return;
      for (const BufferId b : useless) offers.emplace(std::numeric_limits<double>::infinity(), b);
      useless.clear();
      changed = false;
      if (offers.empty()) return;
    }
    const BufferId b = offers.top().second;
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

// Where dropping more does not help, keeping a buffer in the middle of a long segment may.
bool DropSearch::flip_one(std::size_t target) {
  BufferId best;
  Score best_score = now_;
  for (const BufferId b : rehearsal_.candidates()) {
    const Score then = flipped(b, target);
    if (then.excess < best_score.excess) best = b, best_score = then;
  }
  if (!best) return false;
  flip(best, best_score);
  return true;
}

void DropSearch::keep_the_needless(std::size_t target) {
  std::vector<BufferId> costly;
  for (const BufferId b : rehearsal_.candidates())
    if (dropped_[b]) costly.push_back(b);
  std::stable_sort(costly.begin(), costly.end(),
                   [&](BufferId a, BufferId b) { return rehearsal_.seconds_of(a) > rehearsal_.seconds_of(b); });
  for (const BufferId b : costly) {
    const Score then = flipped(b, target);
    if (then.fits() && then.seconds <= now_.seconds) flip(b, then);
  }
}

}  // namespace isobar::graph
