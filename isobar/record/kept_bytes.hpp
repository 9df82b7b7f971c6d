// Files of JSON lines when a run is resumed: lines about steps that will be repeated are dropped. And files that every
// rank writes for itself, such as profile/rank3.jsonl.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "isobar/disk/late_file.hpp"
#include "isobar/train/events.hpp"

namespace isobar::record {

/// The number of leading bytes that a run resumed as `start` says keeps: those before the first line that is torn,
/// marks the end of an interrupted run, has a later step, or describes an epoch that will be finished again. A line may
/// also be an element of a JSON array, with its brackets and commas; its step is "step" or "args.step". Calls `kept`
/// with every object kept.
std::uintmax_t kept_bytes(const std::filesystem::path& file, const train::Start& start,
                          const std::function<void(const nlohmann::json&)>& kept = {});

/// An open file of lines, and the last step and epoch it contains: none if it did not exist or the run is new.
struct KeptLines {
  disk::LateFile file{};
  train::Reached reached{};
};

/// Opens a file of JSON lines and truncates it to kept_bytes(), or to nothing when the run is new.
KeptLines open_lines(const std::filesystem::path& path, const train::Start& start, disk::LateOptions options = {});

/// The path folder/<kind>/rank<r><extension> for the rank of `start`; folder/<kind> may not exist yet. Nothing where
/// the folder of the run is not visible because it is on another node's disk. Rank 0 removes files of ranks that no
/// longer exist.
std::optional<std::filesystem::path> rank_file(const train::Start& start, const std::string& kind,
                                               const std::string& extension);

}  // namespace isobar::record
