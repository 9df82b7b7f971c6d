// The commands below `isobar data`, each in data_<command>.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "isobar/datasets/weather_series.hpp"
#include "isobar/record/status_line.hpp"

namespace isobar::cli {

/// Each declares one command below `data`, or below `data make`.
void declare_animate(CLI::App& data);
void declare_atmosphere(CLI::App& make);
void declare_convert(CLI::App& data);
void declare_inspect(CLI::App& data);
void declare_stats(CLI::App& data);
void declare_tokenize(CLI::App& data);
void declare_universe(CLI::App& make);

/// The options of commands that read through a data set: --samples, --threads and --transform.
void add_reading_options(CLI::App& command, std::int64_t& samples, int& threads, std::vector<std::string>& transforms);
/// Adds --height, --width, --start, --hours, --seed and --run to a command that makes weather.
void add_weather_options(CLI::App& command, datasets::WeatherOptions& weather);
/// `threads`, or one per processor if it is 0.
int threads_or_all(int threads);

/// A function (done, all) that shows on `line` how many samples are done, how fast, and the time left; samples done
/// before its first call do not count in the rate.
std::function<void(std::int64_t, std::int64_t)> shown_on(record::StatusLine& line);

}  // namespace isobar::cli
