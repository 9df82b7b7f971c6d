// The harness: contestants take turns in one go, so that whatever else the machine does meets all alike. First each
// warms up; then rounds, in each of which everybody runs once and somebody else goes first, until there were as many as
// asked for, or time is over.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "isobar/bench/record.hpp"

namespace isobar::bench {

struct Effort {
  int rounds = 30;      ///< at most
  int least = 3;        ///< at least, however long they take
  double seconds = 20;  ///< when so many have passed, no further round is begun
  int warm_up = 2;      ///< runs of everybody that are not counted
};

/// Somebody who can be timed: runs once and returns its seconds.
struct Runner {
  std::string name;
  std::function<double()> run;
};

/// Seconds of every runner in every round.
using Rounds = std::vector<std::vector<double>>;
Rounds take_turns(std::span<const Runner> runners, const Effort& effort);

/// Entries of all, in order; and the speed-up of the first over the best of the others, round by round.
void fill_record(Record& record, std::span<const Runner> runners, const Rounds& seconds);

}  // namespace isobar::bench
