// Files that every rank of a run writes for itself, such as profile/rank3.jsonl. A rank that cannot see the folder of
// the run, because it is on another node's disk, writes nothing.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "isobar/train/events.hpp"

namespace isobar::record {

/// The path folder/<kind>/rank<r><extension> for the rank of `start`; folder/<kind> may not exist yet. Nothing where
/// the folder of the run is not visible. Rank 0 removes files of ranks that no longer exist.
std::optional<std::filesystem::path> rank_file(const train::Start& start, const std::string& kind,
                                               const std::string& extension);

}  // namespace isobar::record
