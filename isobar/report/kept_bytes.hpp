// Files of JSON lines of a run that may go on later: what it wrote of steps that will be done again goes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include <nlohmann/json_fwd.hpp>

#include "isobar/files/late_file.hpp"

namespace isobar::report {

/// The length of the beginning that a run resumed after `first_step` keeps, in bytes: what lies before the first line
/// that is torn, that is the end of the interrupted run, or whose step is later. A line may also be an element of a
/// JSON array, with its brackets and commas; its step is "step" or "args.step". `kept` is told of every object.
std::uintmax_t kept_bytes(const std::filesystem::path& file, std::int64_t first_step,
                          const std::function<void(const nlohmann::json&)>& kept = {});

/// Opens a file of JSON lines for a run that goes on after `first_step`, or begins when that is 0.
files::LateFile open_lines(const std::filesystem::path& file, std::int64_t first_step, files::LateOptions options = {});

}  // namespace isobar::report
