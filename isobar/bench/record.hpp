// Record: one row of a benchmark: what was measured, how long every contestant took, on which machine. A file of
// records has one JSON line per row; rows of two files correspond if level, name and problem agree.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "isobar/bench/summary.hpp"

namespace isobar::bench {

/// The result of one contestant.
struct Entry {
  std::string name;
  Summary seconds{};  ///< of one run
  int runs = 0;
  double peak_bytes = 0;  ///< resident, of its process; 0: not measured
};

/// The aims of a row, so that regressions are visible at once; 0: none.
struct Asked {
  double speed = 0;         ///< at least this many times as fast as the best peer
  double memory_ratio = 0;  ///< at most this fraction of the best peer's peak memory
  double over_bare = 0;     ///< at most this many times the bare primitives
};

/// Time spent in one kernel within whole steps.
struct MeasuredKernel {
  std::string name, category, shape;
  double seconds = 0;  ///< of one step, median
  double flops = 0, bytes = 0;
  bool library = false;  ///< a single oneDNN primitive
};

/// When, where and with what a row was measured.
struct Circumstances {
  std::string when, machine, program;
  int threads = 0;
};

struct Record {
  std::string level, name, problem;
  std::vector<Entry> entries{};  ///< ours first
  Summary speedup{};             ///< best peer over ours, round by round; median 0: no peer
  double flops = 0;              ///< of one run; 0: not counted
  double bytes = 0;              ///< read, written or sent in one run; 0: not counted
  double samples = 0;            ///< of one run; 0: not counted
  double bare_seconds = 0;       ///< of the bare primitives, and the rest at machine limits; 0: not measured
  double workspace_bytes = 0;    ///< memory besides inputs and outputs; 0: not counted
  Asked asked{};
  std::vector<std::pair<std::string, double>> facts{};  ///< other numbers worth keeping, by name
  std::vector<MeasuredKernel> profile{};
  Circumstances where{};

  const Entry& ours() const { return entries.at(0); }
  /// The peer with the smallest median; null: there is none.
  const Entry* best_peer() const;
  /// Our peak memory over the best peer's; 0: unknown.
  double memory_ratio() const;
  /// Our time over that of the bare primitives; 0: unknown.
  double over_bare() const;
  std::string key() const { return level + " | " + name + " | " + problem; }
};

/// One line, without the newline.
std::string record_line(const Record& record);
/// Parses such a line; throws Error that says what is wrong.
Record parse_record(const std::string& line);

/// All records of a file; a line that is not a record is an Error that names its number. Empty lines are skipped.
std::vector<Record> read_records(const std::filesystem::path& file);

/// The present circumstances.
Circumstances these_circumstances(int threads);

}  // namespace isobar::bench
