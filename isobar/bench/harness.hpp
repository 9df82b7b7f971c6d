// The harness: contestants take turns, so that other load on the machine affects all alike. First each warms up; then
// come rounds, in each of which every contestant runs once and another one goes first, until the requested number of
// rounds or the time limit is reached.
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
  double seconds = 20;  ///< after which no further round begins
  int warm_up = 2;      ///< runs of each contestant that are not counted
};

/// A contestant that can be timed: `run` runs it once and returns the seconds.
struct Runner {
  std::string name;
  std::function<double()> run;
};

/// Seconds of every runner in every round.
using Rounds = std::vector<std::vector<double>>;
Rounds take_turns(std::span<const Runner> runners, const Effort& effort);

/// Fills in the entries of all runners, in order, and the speed-up of the first over the best of the others, round by
/// round.
void fill_record(Record& record, std::span<const Runner> runners, const Rounds& seconds);

}  // namespace isobar::bench
