// progress: shows a run on the terminal: one line that is redrawn, and one permanent line for every epoch.
#pragma once

#include <cstdio>
#include <memory>

#include "isobar/record/status_line.hpp"
#include "isobar/train/events.hpp"

namespace isobar::record {

/// Shows a run on `screen`; with `quiet` it shows nothing. `peak_flops` as in RunStatus.
std::unique_ptr<train::Sink> progress(Screen screen, bool quiet, double peak_flops = 0);

/// As above, on an open file.
std::unique_ptr<train::Sink> progress(std::FILE* out, bool quiet, double peak_flops = 0);

}  // namespace isobar::record
