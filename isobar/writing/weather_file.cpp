#include "isobar/writing/weather_file.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "isobar/base/error.hpp"
#include "isobar/datasets/statistics.hpp"
#include "isobar/hdf5/hdf5_file.hpp"

namespace isobar::writing {
namespace {

constexpr std::size_t channels = worlds::channel_count;

struct Summary {
  double sum = 0, squares = 0, high = -std::numeric_limits<double>::infinity(), low = -high;

  void add(double value) {
    sum += value;
    squares += value * value;
    high = std::max(high, value);
    low = std::min(low, value);
  }
  // Mean, max, min, std: the order of the original files.
  std::array<float, 4> rows(double count) const {
    const double mean = sum / count;
    return {static_cast<float>(mean), static_cast<float>(high), static_cast<float>(low),
            static_cast<float>(std::sqrt(std::max(0.0, squares / count - mean * mean)))};
  }
};

std::vector<float> state_stats(std::span<const float> state) {
  std::array<Summary, channels> summaries;
  // Summed relative to the first value of each channel, so that squares of pressures keep their precision.
  for (std::size_t i = 0; i < state.size(); ++i) summaries[i % channels].add(state[i] - state[i % channels]);
  std::vector<float> stats(4 * channels);
  const double count = static_cast<double>(state.size() / channels);
  for (std::size_t c = 0; c < channels; ++c) {
    const auto rows = summaries[c].rows(count);
    for (std::size_t row = 0; row < 4; ++row) stats[row * channels + c] = row == 3 ? rows[row] : rows[row] + state[c];
  }
  return stats;
}

std::vector<float> label_stats(std::span<const std::uint8_t> labels) {
  Summary summary;
  std::array<double, 3> parts{};
  for (const std::uint8_t label : labels) {
    summary.add(label);
    parts[label] += 1.0 / static_cast<double>(labels.size());
  }
  const auto rows = summary.rows(static_cast<double>(labels.size()));
  std::vector<float> stats(rows.begin(), rows.end());
  for (const double part : parts) stats.push_back(static_cast<float>(part));
  return stats;
}

}  // namespace

void expect_settings(const std::filesystem::path& path, const std::string& found,
                     const datasets::WeatherSeries& series) {
  if (found.empty()) fail("{}: is in the way: it is not a file of this program", path.string());
  if (found != series.settings().str())
    fail("{}: was made with {}; {} was requested; choose another folder or remove this one", path.string(), found,
         series.settings().str());
}

void write_weather_hdf5(const std::filesystem::path& path, const datasets::WeatherSeries& series, std::int64_t frame,
                        const datasets::WeatherFrame& made) {
  const worlds::SphereGrid& grid = series.atmosphere().grid();
  hdf5::Hdf5File file = hdf5::Hdf5File::create(path);
  file.write<float>("climate/data", Shape{grid.height, grid.width, worlds::channel_count}, made.state);
  file.write<float>("climate/data_stats", Shape{4, worlds::channel_count}, state_stats(made.state));
  for (const int set : {0, 1}) {
    const std::vector<float> labels(made.labels[set].begin(), made.labels[set].end());
    const std::string name = fmt::format("climate/labels_{}", set);
    file.write<float>(name, Shape{grid.height, grid.width}, labels);
    file.write<float>(name + "_stats", Shape{7, 1}, label_stats(made.labels[set]));
  }
  file.set_text("/", "settings", series.settings().str());
  file.set_integer("/", "hour", series.hour(frame));
  file.commit(/*durable=*/false);  // if a power failure damages the file, the next call finds it and makes it again
}

bool is_weather_hdf5(const std::filesystem::path& path, const datasets::WeatherSeries& series, std::int64_t frame) {
  std::optional<hdf5::Hdf5File> file;
  try {
    file = hdf5::Hdf5File::open(path);
  } catch (const Error&) {
    return false;
  }
  expect_settings(path, file->has_attribute("/", "settings") ? file->text("/", "settings") : "", series);
  const worlds::SphereGrid& grid = series.atmosphere().grid();
  return file->integer("/", "hour") == series.hour(frame) && file->exists("climate/labels_1_stats") &&
         file->shape("climate/data") == Shape{grid.height, grid.width, worlds::channel_count};
}

void write_weather_stats(const std::filesystem::path& path, std::span<const std::filesystem::path> files,
                         const worlds::SphereGrid& grid) {
  expects(!files.empty(), "at least one file");
  std::vector<datasets::ChannelStatistics> all(channels);
  std::vector<float> stats(4 * channels);  // rows: mean, maximum, minimum, deviation
  for (const std::filesystem::path& name : files) {
    hdf5::Hdf5File::open(name).read<float>("climate/data_stats", stats);
    for (std::size_t c = 0; c < channels; ++c) {
      const double deviation = stats[3 * channels + c];
      datasets::ChannelStatistics frame{.count = static_cast<std::int64_t>(grid.cells()), .mean = stats[c]};
      frame.squares = deviation * deviation * static_cast<double>(frame.count);
      frame.low = stats[2 * channels + c];
      frame.high = stats[channels + c];
      all[c].join(frame);
    }
  }
  datasets::write_statistics(path, all);
}

}  // namespace isobar::writing
