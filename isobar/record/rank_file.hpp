// Files that every rank of a run writes for itself: profile/rank3.jsonl. A rank may not see the folder of the run, when
// that is on another node's disk; then it writes nothing.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "isobar/train/events.hpp"

namespace isobar::record {

/// folder/<kind>/rank<r><extension> of the rank that is told `start`, whose folder may be missing; nothing where the
/// run is not to be seen. Rank 0 removes what ranks have left that are no longer there.
std::optional<std::filesystem::path> rank_file(const train::Start& start, const std::string& kind,
                                               const std::string& extension);

}  // namespace isobar::record
