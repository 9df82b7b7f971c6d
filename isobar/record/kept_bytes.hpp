// Files of JSON lines of a run that may go on later: what it wrote of steps that will be done again goes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include <nlohmann/json_fwd.hpp>

#include "isobar/disk/late_file.hpp"
#include "isobar/train/events.hpp"

namespace isobar::record {

/// The length of the beginning that a run keeps that goes on as `start` says, in bytes: what lies before the first line
/// that is torn, that is the end of an interrupted run, whose step is later, or that tells of an epoch that will be
/// finished again. A line may also be an element of a JSON array, with its brackets and commas; its step is "step" or
/// "args.step". `kept` is told of every object.
std::uintmax_t kept_bytes(const std::filesystem::path& file, const train::Start& start,
                          const std::function<void(const nlohmann::json&)>& kept = {});

/// A file of lines that is open, and how far it reached: to no step when it was not there, or the run is a new one.
struct KeptLines {
  disk::LateFile file{};
  train::Reached reached{};
};

/// Opens a file of JSON lines and cuts it to what a run keeps that goes on as `start` says: nothing, when it is new.
KeptLines open_lines(const std::filesystem::path& path, const train::Start& start, disk::LateOptions options = {});

}  // namespace isobar::record
