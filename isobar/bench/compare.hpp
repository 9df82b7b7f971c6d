// Compares two files of records: what became faster, what slower, and what is only noise. A row has changed if the 95 %
// intervals of its two medians do not touch and the medians differ by more than a threshold.
#pragma once

#include <string>
#include <vector>

#include "isobar/bench/record.hpp"

namespace isobar::bench {

enum class Change { none, faster, slower, gone, added };

struct ComparedRow {
  std::string key;  ///< of the record
  Change change = Change::none;
  Summary before{}, now{};  ///< our seconds; zeros where the row is missing
  Summary ratio{};          ///< before over now, with the widest interval that both allow
};

struct RecordComparison {
  std::vector<ComparedRow> rows;         ///< in the order of the new file, then those missing from it
  std::vector<std::string> differences;  ///< of machine, program and threads, as text
  double threshold = 0;

  /// Rows with this change.
  int count(Change change) const;
};

/// Compares; if a row occurs several times in a file, the last one counts. `threshold`: the smallest relevant change of
/// a median, 0.05 for 5 %.
RecordComparison compare_records(const std::vector<Record>& before, const std::vector<Record>& now, double threshold);

/// The comparison as text; regressions first.
std::string comparison_text(const RecordComparison& comparison);

}  // namespace isobar::bench
