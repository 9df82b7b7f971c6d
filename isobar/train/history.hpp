// history.jsonl: every start of a run in a folder, one line each, so that work that was done again or thrown away can
// be counted. It is only ever added to: --resume and --overwrite leave it alone.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace isobar::train {

/// Notes that a run begins behind `first_step`, as `kind` says: new, resumed or overwritten; by which launcher, if any;
/// and the steps and seconds in timing.jsonl that are dropped by that. To be called before anything in the folder is
/// changed.
void note_start(const std::filesystem::path& folder, std::string_view kind, std::int64_t first_step,
                std::string_view launch = {});

/// Whether the last start in the folder was by this launcher, which now starts it anew; an empty name is none.
bool was_launched_by(const std::filesystem::path& folder, std::string_view launch);

}  // namespace isobar::train
