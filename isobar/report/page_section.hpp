// A section of a run's report: one file, one row in the table of page.cpp.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isobar/record/run_record.hpp"

namespace isobar::report {

/// What sections show: a run, and the trace of its rank 0, which is read once for all sections.
struct PageSource {
  const record::RunRecord& run;
  std::vector<record::TraceEvent> trace{};
};

struct Section {
  std::string_view id, title;
  /// The body of the section, as HTML; without data, one sentence that says how to obtain them.
  std::string (*html)(const PageSource&);
};

/// The sections in the order of the page.
std::span<const Section* const> sections();

/// A sentence (text) in place of data that cannot be shown.
std::string missing_html(std::string_view sentence);

/// Explains shares above 100 % of a peak.
inline constexpr std::string_view above_peak =
    "More than 100 % of the measured peak: other programs kept the machine busy while the peak was measured. isobar "
    "doctor measures it again.";

/// A note (text) below or above a figure.
std::string note_html(std::string_view sentence);

}  // namespace isobar::report
