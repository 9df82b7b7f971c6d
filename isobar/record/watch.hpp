// watch: a run followed from another terminal, by its folder alone: what the run shows of itself, and for how long it
// has written nothing.
#pragma once

#include <filesystem>
#include <functional>

#include "isobar/record/status_line.hpp"

namespace isobar::record {

/// How to follow a run.
struct WatchSetting {
  bool once = false;                    ///< tell the state and end
  std::function<double()> unix_time{};  ///< seconds since 1970
  std::function<bool()> wait{};         ///< returns after a moment; false: end now
};

/// Shows the run on `screen` until it ends or `wait` says so. A folder that is no run yet is waited for; with `once` it
/// is an Error. Returns whether the run has ended.
bool watch(const std::filesystem::path& folder, Screen screen, const WatchSetting& setting);

}  // namespace isobar::record
