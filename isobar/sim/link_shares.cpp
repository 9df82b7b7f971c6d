#include "isobar/sim/link_shares.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "isobar/base/error.hpp"

namespace isobar::sim {
namespace {

constexpr double nothing = 1e-15;  // seconds
// A round that hardly uses a link is not held up by it: its messages there have time.
constexpr float hardly = 0.02f;
// The slowest messages of a round hold up those who wait for them, and only these: ranks that are not met are ahead in
// the next round. So the mean over messages counts by a quarter, with which flows and rounds agree best.
constexpr double mean_counts = 0.25;

}  // namespace

int LinkShares::begin(double at, std::vector<RoundPhase> phases) {
  while (now_ < at && advance(at)) {
  }
  now_ = std::max(now_, at);
  UnderWay sum{.phases = std::move(phases)};
  sum.part = Part::over;
  if (sum.phases.empty()) sum.ended = now_;
  else {
    sum.part = Part::latency;
    sum.left = sum.phases[0].latency;
    if (sum.left <= nothing) next_part(sum);
    active_.push_back(std::ssize(sums_));
  }
  sums_.push_back(std::move(sum));
  share_out();
  return std::ssize(sums_) - 1;
}

double LinkShares::end(int sum) {
  const UnderWay& wanted = sums_.at(sum);
  while (wanted.ended < 0) advance(std::numeric_limits<double>::infinity());
  return wanted.ended;
}

// The next part that takes time, or the end.
void LinkShares::next_part(UnderWay& sum) const {
  do {
    const RoundPhase& phase = sum.phases[sum.phase];
    if (sum.part == Part::latency) {
      sum.part = Part::transfer;
      sum.left = phase.transfer;
    } else if (sum.part == Part::transfer) {
      sum.part = Part::adding;
      sum.left = phase.adding;
    } else if (++sum.phase < sum.phases.size()) {
      sum.part = Part::latency;
      sum.left = sum.phases[sum.phase].latency;
    } else {
      sum.part = Part::over;
    }
  } while (sum.part != Part::over && sum.left <= nothing);
}

bool LinkShares::advance(double until) {
  if (active_.empty()) return false;
  double step = until - now_;
  for (const int s : active_) {
    const UnderWay& sum = sums_[s];
    step = std::min(step, sum.left / sum.speed);
  }
  now_ += step;
  bool changed = false;
  for (const int s : active_) {
    UnderWay& sum = sums_[s];
    sum.left -= step * sum.speed;
    if (sum.left > nothing) continue;
    next_part(sum);
    if (sum.part == Part::over) sum.ended = now_;
    changed = true;
  }
  if (!changed) return true;
  std::erase_if(active_, [&](int s) { return sums_[s].part == Part::over; });
  share_out();
  return true;
}

void LinkShares::share_out() {
  std::vector<std::pair<int, int>> moving;  // round and sum
  for (const int s : active_) {
    UnderWay& sum = sums_[s];
    sum.speed = 1;
    if (sum.part == Part::transfer) moving.emplace_back(sum.phases[sum.phase].round, s);
  }
  if (moving.size() < 2) return;
  std::ranges::sort(moving);
  std::vector<int> rounds;
  for (const auto& [round, _] : moving) rounds.push_back(round);
  const std::vector<double>& found = speeds(rounds);
  for (std::size_t i = 0; i < moving.size(); ++i) sums_[moving[i].second].speed = found[i];
}

// Progressive filling: all speeds grow alike until a link is full; those who use it stay, the others go on.
const std::vector<double>& LinkShares::speeds(const std::vector<int>& rounds) {
  const auto [found, is_new] = known_.try_emplace(rounds, rounds.size(), 0.0);
  std::vector<double>& result = found->second;
  if (!is_new) return result;
  std::vector<std::size_t> growing(rounds.size());
  std::iota(growing.begin(), growing.end(), std::size_t{0});
  std::vector<int> touched;
  for (const int round : rounds)
    for (const LinkShare& share : shares_(round)) {
      if (share.link >= std::ssize(used_)) used_.resize(share.link + 1), wanted_.resize(share.link + 1);
      touched.push_back(share.link);
      used_[share.link] = wanted_[share.link] = 0;
    }
  std::ranges::sort(touched);
  touched.erase(std::ranges::unique(touched).begin(), touched.end());
  full_at_.clear();
  for (double level = 0; !growing.empty();) {
    for (const int link : touched) wanted_[link] = 0;
    for (const std::size_t i : growing)
      for (const LinkShare& share : shares_(rounds[i])) wanted_[share.link] += share.part;
    double grow = 1 - level;
    for (const int link : touched)
      if (wanted_[link] > 0) grow = std::min(grow, std::max(0.0, 1 - used_[link]) / wanted_[link]);
    level += grow;
    for (const int link : touched) {
      used_[link] += grow * wanted_[link];
      if (used_[link] >= 1 - 1e-9) full_at_.try_emplace(link, level);
    }
    const auto stays = [&](std::size_t i) {
      result[i] = level;
      return level >= 1 - 1e-9 || std::ranges::any_of(shares_(rounds[i]), [&](const LinkShare& share) {
               return share.part > hardly && used_[share.link] >= 1 - 1e-9;
             });
    };
    // A full link stops somebody; rounding must not let all go on forever.
    if (std::erase_if(growing, stays) == 0) break;
  }
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    double weight = 0, slowed = 0;
    for (const LinkShare& share : shares_(rounds[i])) {
      weight += share.part;
      const auto full = full_at_.find(share.link);
      slowed += share.part / (full == full_at_.end() ? 1 : full->second);
    }
    const double worst = 1 / std::max(result[i], 1e-6);
    result[i] = 1 / (worst + mean_counts * (slowed / weight - worst));
  }
  return result;
}

}  // namespace isobar::sim
