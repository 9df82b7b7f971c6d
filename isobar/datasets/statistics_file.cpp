// The statistics file: written as in DeepCAM, and also read in the form of the climate benchmark.
#include <array>
#include <cmath>

#include "isobar/datasets/statistics.hpp"
#include "isobar/hdf5/hdf5_file.hpp"

namespace isobar::datasets {
namespace {

constexpr std::int64_t most_channels = 1 << 20;

// The names of DeepCAM's arrays, in the order of the members.
constexpr std::array names{"climate/mean", "climate/sqmean", "climate/minval", "climate/maxval"};

std::vector<double> read_array(const hdf5::Hdf5File& file, const char* name, const Shape& wanted) {
  const Shape shape = file.shape(name);
  if (shape != wanted)
    fail("{}: '{}' is {}; with the other statistics it would be {}", file.path().string(), name, shape.str(),
         wanted.str());
  std::vector<double> values(shape.count());
  file.read<double>(name, values);
  for (const double value : values)
    if (!std::isfinite(value)) fail("{}: '{}' holds {}, which is no statistic", file.path().string(), name, value);
  return values;
}

void check_channels(const hdf5::Hdf5File& file, const char* name, const Shape& shape, int rank) {
  if (shape.rank() != rank || shape[0] < 1 || shape[0] > most_channels || (rank == 2 && shape[1] != 4))
    fail("{}: '{}' is {}; expected: {}", file.path().string(), name, shape.str(),
         rank == 1 ? "a number for every channel" : "mean, max, min and std for every channel");
}

}  // namespace

void write_statistics(const std::filesystem::path& file, const std::vector<ChannelStatistics>& channels) {
  hdf5::Hdf5File out = hdf5::Hdf5File::create(file);
  double count = 0;
  std::array<std::vector<double>, names.size()> values;
  for (const ChannelStatistics& channel : channels) {
    count = std::max(count, static_cast<double>(channel.count));
    const bool any = channel.count > 0;
    const std::array row{channel.mean, channel.square_mean(), any ? channel.low : 0, any ? channel.high : 0};
    for (std::size_t i = 0; i < row.size(); ++i) values[i].push_back(row[i]);
  }
  out.write<double>("climate/count", Shape{1}, std::span<const double>(&count, 1));
  for (std::size_t i = 0; i < names.size(); ++i) out.write<double>(names[i], Shape{std::ssize(channels)}, values[i]);
  out.commit();
}

std::vector<ChannelStatistics> read_statistics(const std::filesystem::path& path) {
  const hdf5::Hdf5File file = hdf5::Hdf5File::open(path);
  std::vector<ChannelStatistics> channels;
  if (!file.exists(names[0])) {
    if (!file.exists("climate/stats"))
      fail(
          "{}: holds no statistics; expected: climate/mean, sqmean, minval and maxval, as 'isobar data stats' writes "
          "them, or climate/stats",
          path.string());
    const Shape shape = file.shape("climate/stats");
    check_channels(file, "climate/stats", shape, 2);
    const std::vector<double> rows = read_array(file, "climate/stats", shape);
    for (std::size_t i = 0; i < rows.size(); i += 4)
      channels.push_back({1, 0, rows[i], rows[i + 3] * rows[i + 3], rows[i + 2], rows[i + 1]});
    return channels;
  }
  const Shape shape = file.shape(names[0]);
  check_channels(file, names[0], shape, 1);
  std::array<std::vector<double>, names.size()> values;
  for (std::size_t i = 0; i < names.size(); ++i) values[i] = read_array(file, names[i], shape);
  for (std::size_t c = 0; c < values[0].size(); ++c) {
    const double mean = values[0][c];
    channels.push_back({1, 0, mean, std::max(0.0, values[1][c] - mean * mean), values[2][c], values[3][c]});
  }
  return channels;
}

}  // namespace isobar::datasets
