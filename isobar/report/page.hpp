// The report of a run: report.html, one file that can be opened from disk or sent to a colleague. It shows what the
// folder contains, so it can be made during the run, afterwards, or after the run was killed.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "isobar/record/run_record.hpp"
#include "isobar/train/events.hpp"

namespace isobar::report {

/// The whole page.
std::string page(const record::RunRecord& run);

/// Reads the folder of a run and writes report.html and run_card.json into it.
void write_page(const std::filesystem::path& folder);

/// Writes the page when the run ends; a failure is only a warning. Its turn comes after all sinks that write files.
std::unique_ptr<train::Sink> page_sink();

}  // namespace isobar::report
