// What the commands that make weather share.
#pragma once

#include <CLI/CLI.hpp>

#include "isobar/datasets/weather_series.hpp"

namespace isobar::cli {

/// Adds --height, --width, --start, --hours, --seed and --run to a command.
void add_weather_options(CLI::App& command, datasets::WeatherOptions& weather);

}  // namespace isobar::cli
