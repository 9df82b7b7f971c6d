// Comparing two files of records: what became faster, what slower, and what only seems so. A row has changed when the
// 95 % intervals of its two medians do not touch and the medians differ by more than a threshold.
#pragma once

#include <string>
#include <vector>

#include "isobar/bench/record.hpp"

namespace isobar::bench {

enum class Change { none, faster, slower, gone, added };

struct ComparedRow {
  std::string key;  ///< of the record
  Change change = Change::none;
  Summary before{}, now{};  ///< our seconds; nothing where the row is missing
  Summary ratio{};          ///< before over now, as far apart as the two intervals allow
};

struct RecordComparison {
  std::vector<ComparedRow> rows;         ///< in the order of the new file, then those it misses
  std::vector<std::string> differences;  ///< of machine, program and threads, in words
  double threshold = 0;

  /// Rows with this change.
  int count(Change change) const;
};

/// Compares; of rows that occur several times in a file the last counts. `threshold`: the smallest change of a median
/// that matters, 0.05 for 5 %.
RecordComparison compare_records(const std::vector<Record>& before, const std::vector<Record>& now, double threshold);

/// For people; regressions first.
std::string comparison_text(const RecordComparison& comparison);

}  // namespace isobar::bench
