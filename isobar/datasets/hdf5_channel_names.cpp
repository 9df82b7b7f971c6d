#include "isobar/datasets/hdf5_channel_names.hpp"

#include <algorithm>
#include <numeric>
#include <sstream>

#include "isobar/worlds/channels.hpp"

namespace isobar::datasets {
namespace {

constexpr std::int64_t most_named = 4096;  // longer axes are not channels with names

std::vector<std::string> lines(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> found;
  for (std::string line; std::getline(in, line);) found.push_back(line);
  return found;
}

// The channels of climate segmentation, which have been in the same order since the first such files.
std::vector<std::string> climate_names(const std::vector<std::int64_t>& numbers) {
  std::vector<std::string> names;
  for (const std::int64_t number : numbers)
    if (number >= 0 && number < worlds::channel_count) names.emplace_back(worlds::channels[number].name);
  return names;
}

}  // namespace

std::vector<std::int64_t> channel_numbers(const hdf5::Hdf5File& file, const std::string& x, std::int64_t there) {
  std::vector<std::int64_t> numbers(there);
  std::iota(numbers.begin(), numbers.end(), 0);
  const std::string list = (std::filesystem::path(x).parent_path() / "channels").string();
  if (file.exists(list) && file.kind(list) == hdf5::Hdf5Kind::array && file.shape(list) == Shape{there})
    hdf5::Hdf5Array(file, list).read<std::int64_t>(numbers);
  return numbers;
}

std::vector<std::string> channel_names(const hdf5::Hdf5File& file, const Hdf5Reading& reading) {
  if (reading.x.empty()) return {};
  const Shape shape = file.shape(reading.x);
  const int axis = !reading.channels_first ? shape.rank() - 1 : reading.sample_axis ? 1 : 0;
  if (axis < 0 || axis >= shape.rank() || shape[axis] > most_named) return {};
  const std::vector<std::int64_t> numbers = channel_numbers(file, reading.x, shape[axis]);
  std::vector<std::string> names;
  if (file.has_attribute(reading.x, "channels") && file.is_text(reading.x, "channels"))
    names = lines(file.text(reading.x, "channels"));
  // A subset of the channels without a list of them could be any.
  else if (reading.x == "climate/data" && (shape[axis] == worlds::channel_count || file.exists("climate/channels")))
    names = climate_names(numbers);
  if (names.size() != numbers.size()) return {};
  if (reading.channels.empty()) return names;
  std::vector<std::string> chosen;
  for (const std::int64_t channel : reading.channels) {
    const auto found = std::ranges::find(numbers, channel);
    if (found == numbers.end()) return {};
    chosen.push_back(names[found - numbers.begin()]);
  }
  return chosen;
}

}  // namespace isobar::datasets
