#include "isobar/bench/harness.hpp"

#include <algorithm>

#include "isobar/base/clock.hpp"
#include "isobar/base/error.hpp"

namespace isobar::bench {

Rounds take_turns(std::span<const Runner> runners, const Effort& effort) {
  for (const Runner& runner : runners)
    for (int i = 0; i < effort.warm_up; ++i) runner.run();
  Rounds seconds(runners.size());
  const double end = now_seconds() + effort.seconds;
  for (int round = 0; round < effort.rounds && (round < effort.least || now_seconds() < end); ++round)
    for (std::size_t i = 0; i < runners.size(); ++i) {
      const std::size_t who = (i + round) % runners.size();
      seconds[who].push_back(runners[who].run());
    }
  return seconds;
}

void fill_record(Record& record, std::span<const Runner> runners, const Rounds& seconds) {
  expects(!runners.empty() && seconds.size() == runners.size(), "rounds of all runners");
  for (std::size_t i = 0; i < runners.size(); ++i)
    record.entries.push_back({runners[i].name, summarize(seconds[i]), static_cast<int>(seconds[i].size())});
  const Entry* best = record.best_peer();
  if (!best) return;
  const std::vector<double>& theirs = seconds[best - record.entries.data()];
  std::vector<double> ratios;
  for (std::size_t r = 0; r < theirs.size(); ++r) ratios.push_back(theirs[r] / std::max(seconds[0][r], 1e-9));
  record.speedup = summarize(ratios);
}

}  // namespace isobar::bench
