// The commands below `isobar data`, one file each: data_<command>.cpp.
#pragma once

#include <cstdint>
#include <functional>

#include <CLI/CLI.hpp>

#include "isobar/report/status_line.hpp"

namespace isobar::cli {

/// Each declares one command below `data`, or below `data make`.
void declare_animate(CLI::App& data);
void declare_atmosphere(CLI::App& make);
void declare_inspect(CLI::App& data);
void declare_universe(CLI::App& make);

/// A function (done, all) that shows on `line` how many samples are done, how fast and how long it will take; samples
/// that were there at its first call count for nothing in the rate.
std::function<void(std::int64_t, std::int64_t)> shown_on(report::StatusLine& line);

}  // namespace isobar::cli
