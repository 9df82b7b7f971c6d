// One sample on several ranks that share a model, compared with one rank that has as many threads: what cutting costs,
// as ratios measured in one run, and how much of the time of its messages is hidden.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "isobar/base/spec.hpp"
#include "isobar/bench/record.hpp"

namespace isobar::bench {

struct SplitContest {
  Spec model, split;
  int ranks = 2, rounds = 10, steps = 2;
  std::string self{};                                           ///< our program
  std::function<std::vector<std::string>(int ranks)> launch{};  ///< the words before `self` that start it on ranks
};

struct SplitOutcome {
  Summary whole, cut;         ///< seconds of a step
  Summary ratio;              ///< the cut step over the whole one
  Summary hidden;             ///< the share of the time of messages in which the first rank did not wait for them
  double bytes_per_step = 0;  ///< sent by the first rank as messages of the model
};

SplitOutcome run_split_contest(const SplitContest& what, const std::function<void(const std::string&)>& note);

/// The outcome as text, and as a record.
std::string split_table(const SplitContest& what, const SplitOutcome& outcome);
Record split_record(const SplitContest& what, const SplitOutcome& outcome);

}  // namespace isobar::bench
