// history.jsonl: every start of a run in a folder, one line each, so that work that was repeated or thrown away can be
// counted. The file only grows: --resume and --overwrite keep it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace isobar::train {

/// Notes that a run begins after `first_step`; its `kind`: new, resumed or overwritten; its launcher, if any; and the
/// steps and seconds in timing.jsonl that this drops. Call it before changing anything in the folder.
void note_start(const std::filesystem::path& folder, std::string_view kind, std::int64_t first_step,
                std::string_view launch = {});

/// Whether this launcher made the last start in the folder, and so restarts it now; false for an empty name.
bool was_launched_by(const std::filesystem::path& folder, std::string_view launch);

}  // namespace isobar::train
