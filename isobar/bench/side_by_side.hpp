// Side by side: a training step of ours and of peers, alternating in one go, so that whatever else the machine does
// meets all alike. Speed is a ratio of medians, never seconds alone.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "isobar/base/spec.hpp"
#include "isobar/bench/statistics.hpp"

namespace isobar::bench {

struct SideBySide {
  Spec model;
  std::int64_t batch = 1;
  int rounds = 10;  ///< every contestant runs once in each
  int threads = 2;
  std::string self;   ///< our program
  std::string peers;  ///< folder of the peer programs; empty: none
};

struct Entry {
  std::string name;
  Summary seconds;
  double peak_bytes = 0;
};

struct Outcome {
  Entry ours;
  std::vector<Entry> peers;  ///< may be empty
  Summary speedup;           ///< best peer over ours, per round
  double memory_ratio = 0;   ///< ours over the best peer
  double bare_seconds = 0;   ///< sum of the bare oneDNN primitives
  double over_bare = 0;      ///< our step over that
};

/// Runs it; `note` is told what is going on.
Outcome run_side_by_side(const SideBySide& what, const std::function<void(const std::string&)>& note);

/// A table for people, and one JSON line for machines.
std::string outcome_table(const SideBySide& what, const Outcome& outcome);
std::string outcome_json(const SideBySide& what, const Outcome& outcome);

}  // namespace isobar::bench
