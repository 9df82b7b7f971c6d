// Record: one row of a benchmark as it is kept: what was measured, how long every contestant took, on which machine.
// A file of records has one JSON line per row; rows of two files belong together when level, name and problem agree.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "isobar/bench/summary.hpp"

namespace isobar::bench {

/// What one contestant did.
struct Entry {
  std::string name;
  Summary seconds{};  ///< of one run
  int runs = 0;
  double peak_bytes = 0;  ///< resident, of its process; 0: not measured
};

/// The aims of a row, so that one sees at once when it has become worse; 0: none.
struct Asked {
  double speed = 0;         ///< times as fast as the best peer, at least
  double memory_ratio = 0;  ///< of the best peer's peak memory, at most
  double over_bare = 0;     ///< times the bare primitives, at most
};

/// Time spent in one kernel within whole steps.
struct MeasuredKernel {
  std::string name, category, shape;
  double seconds = 0;  ///< of one step, median
  double flops = 0, bytes = 0;
  bool library = false;  ///< one oneDNN primitive and nothing else
};

/// Where and with what a row was measured.
struct Circumstances {
  std::string when, machine, program;
  int threads = 0;
};

struct Record {
  std::string level, name, problem;
  std::vector<Entry> entries{};  ///< ours first
  Summary speedup{};             ///< best peer over ours, round by round; median 0: there was no peer
  double flops = 0;              ///< of one run; 0: not counted
  double bytes = 0;              ///< read, written or sent in one run; 0: not counted
  double samples = 0;            ///< of one run; 0: not counted
  double bare_seconds = 0;       ///< of the bare primitives, all else at what the machine allows; 0: not measured
  double workspace_bytes = 0;    ///< memory needed beside inputs and outputs; 0: not counted
  Asked asked{};
  std::vector<std::pair<std::string, double>> facts{};  ///< other numbers worth keeping, by name
  std::vector<MeasuredKernel> profile{};
  Circumstances where{};

  const Entry& ours() const { return entries.at(0); }
  /// The peer with the least median; null: there is none.
  const Entry* best_peer() const;
  /// Ours over the best peer's; 0: not known.
  double memory_ratio() const;
  /// Ours over the bare primitives; 0: not known.
  double over_bare() const;
  std::string key() const { return level + " | " + name + " | " + problem; }
};

/// One line, without its end.
std::string record_line(const Record& record);
/// Reads such a line; throws Error with what is wrong.
Record parse_record(const std::string& line);

/// All records of a file; a line that is none is an error that names its number. Empty lines are skipped.
std::vector<Record> read_records(const std::filesystem::path& file);

/// Here and now.
Circumstances these_circumstances(int threads);

}  // namespace isobar::bench
