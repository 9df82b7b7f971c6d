// Files that every rank of a run writes for itself: profile/rank3.jsonl. A rank may not see the folder of the run, when
// that is on another node's disk; then it writes nothing.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "isobar/train/events.hpp"

namespace isobar::report {

/// folder/<kind>/rank<r><extension> of the rank that is told `start`, with its folder made; nothing where the run is
/// not to be seen. Rank 0 removes what ranks have left that are no longer there.
std::optional<std::filesystem::path> rank_file(const train::Start& start, const std::string& kind,
                                               const std::string& extension);

/// How much of a file of JSON lines a run resumed after `first_step` keeps, in bytes: what lies before the first line
/// that is torn, or whose step is later. A line may also be an element of a JSON array, with its brackets and commas;
/// its step is "step" or "args.step". `kept` is told of every object.
std::uintmax_t kept_bytes(const std::filesystem::path& file, std::int64_t first_step,
                          const std::function<void(const nlohmann::json&)>& kept = {});

}  // namespace isobar::report
