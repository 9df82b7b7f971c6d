// watch: follows a run from another terminal, through its folder: shows what the run itself shows, and how long ago it
// last wrote anything.
#pragma once

#include <filesystem>
#include <functional>

#include "isobar/record/status_line.hpp"

namespace isobar::record {

/// How to follow a run.
struct WatchSetting {
  bool once = false;                    ///< show the state and return
  std::function<double()> unix_time{};  ///< seconds since 1970
  std::function<bool()> wait{};         ///< returns after a moment; false: stop watching
};

/// Shows the run on `screen` until it ends or `wait` returns false. Waits for a folder that does not contain a run yet;
/// with `once` such a folder is an Error. Returns whether the run has ended.
bool watch(const std::filesystem::path& folder, Screen screen, const WatchSetting& setting);

}  // namespace isobar::record
