// A training step on several ranks of this machine, compared with the same processes without an exchange, one rank with
// and without communication, and PyTorch's DistributedDataParallel over Gloo: the cost of an exchange, as ratios
// measured in one run.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "isobar/base/spec.hpp"
#include "isobar/bench/record.hpp"

namespace isobar::bench {

struct RankContest {
  Spec model = "cosmoflow(size=64)";
  std::int64_t batch = 1;  ///< per rank
  int ranks = 2, threads = 1;
  int rounds = 10, steps = 4;  ///< steps of every contestant in each round
  Spec strategy = "sync";
  std::string self;                                           ///< our program
  std::function<std::vector<std::string>(int ranks)> launch;  ///< the words before `self` that start it on ranks
  std::string peers;                                          ///< folder of the peer programs; empty: none
};

struct RankOutcome {
  struct Contender {
    std::string name;
    Summary seconds;  ///< of a step
  };
  std::vector<Contender> contenders;
  Summary efficiency;         ///< the same processes without exchange over those with it
  Summary peer_efficiency;    ///< the same for the peer
  Summary speedup;            ///< the peer's step over ours, both with exchange
  Summary one_rank;           ///< one rank with communication over one without
  double bytes_per_step = 0;  ///< sent or read by rank 0
};

RankOutcome run_rank_contest(const RankContest& what, const std::function<void(const std::string&)>& note);

/// The outcome as text, and as a record.
std::string rank_table(const RankContest& what, const RankOutcome& outcome);
Record rank_record(const RankContest& what, const RankOutcome& outcome);

}  // namespace isobar::bench
