#include "isobar/datasets/hdf5_sample_file.hpp"

#include <algorithm>
#include <array>

#include "isobar/base/error.hpp"
#include "isobar/datasets/hdf5_channel_names.hpp"

namespace isobar::datasets {
namespace {

using Extents = std::vector<std::int64_t>;
using BoxAxes = std::array<std::int64_t, most_axes>;

// [channels, space] to [space, channels], in stretches of all channels that stay in the cache.
void channels_to_last(std::span<const float> from, std::int64_t channels, std::span<float> to) {
  const auto space = std::ssize(from) / channels;
  constexpr std::int64_t stretch = 256;
  for (std::int64_t first = 0; first < space; first += stretch) {
    const std::int64_t last = std::min(space, first + stretch);
    for (std::int64_t c = 0; c < channels; ++c) {
      const float* const source = from.data() + c * space;
      float* const target = to.data() + c;
      for (std::int64_t s = first; s < last; ++s) target[s * channels] = source[s];
    }
  }
}

std::span<float> scratch(std::size_t count) {
  static thread_local std::vector<float> memory;
  if (memory.size() < count) memory.resize(count);
  return std::span(memory).first(count);
}

bool in_a_row(Indices numbers) {
  for (std::size_t i = 1; i < numbers.size(); ++i)
    if (numbers[i] != numbers[i - 1] + 1) return false;
  return true;
}

hdf5::Hdf5Array open_array(const hdf5::Hdf5File& file, const std::string& name, bool sample_axis) {
  hdf5::Hdf5Array array(file, name);
  const Shape& shape = array.shape();
  const bool rows = sample_axis && shape.rank() > 0;
  const std::int64_t sample = rows ? shape.count(1, shape.rank()) : shape.count();
  if (sample == 0) fail("{}: '{}' has shape {}: no numbers", file.path().string(), name, shape.str());
  // Memory for a sample is allocated before anything is read: no more than the file can hold at the best compression.
  if (sample / 1032 * array.stored().bytes > array.file_bytes() + (1 << 20))
    fail("{}: '{}' has shape {}, more than a file of {} bytes can hold", file.path().string(), name, shape.str(),
         array.file_bytes());
  return array;
}

std::vector<std::string> lines_of_attribute(const std::string& text) {
  std::vector<std::string> found;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    found.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return found;
}

}  // namespace

Hdf5SampleFile::Hdf5SampleFile(const std::filesystem::path& path, const Hdf5Reading& reading)
    : Hdf5SampleFile(hdf5::Hdf5File::open(path), reading) {}

Hdf5SampleFile::Hdf5SampleFile(const hdf5::Hdf5File& file, const Hdf5Reading& reading) : reading_(reading) {
  if (!reading_.x.empty()) open_x(file);
  if (!reading_.y.empty()) open_y(file);
}

void Hdf5SampleFile::open_x(const hdf5::Hdf5File& file) {
  x_ = open_array(file, reading_.x, reading_.sample_axis);
  Extents x = x_->shape().extents();
  const auto refuse = [&](std::string_view why) {
    fail("{}: '{}' has shape {}; {}", file.path().string(), reading_.x, x_->shape().str(), why);
  };
  if (reading_.sample_axis) {
    if (x.size() < 2) refuse("a file of samples needs a sample axis and at least one more");
    size_ = x[0];
    x.erase(x.begin());
  }
  if (x.empty()) fail("{}: '{}' is a single number; a sample has at least one axis", file.path().string(), reading_.x);
  if (reading_.channels_first) {
    if (x.size() < 2) refuse("with channels first a sample has two axes or more");
    std::ranges::rotate(x, x.begin() + 1);
  }
  x_shape_ = Shape(x);
  if (!reading_.channels.empty()) choose_channels(file);
}

void Hdf5SampleFile::open_y(const hdf5::Hdf5File& file) {
  y_ = open_array(file, reading_.y, reading_.sample_axis);
  Extents y = y_->shape().extents();
  const auto refuse = [&](const std::string& why) {
    fail("{}: '{}' has shape {}{}", file.path().string(), reading_.y, y_->shape().str(), why);
  };
  if (reading_.sample_axis) {
    if (y.empty()) refuse("; a file of samples needs a sample axis");
    if (x_ && y[0] != size_) refuse(fmt::format(", but '{}' has {} samples", reading_.x, size_));
    size_ = y[0];
    y.erase(y.begin());
  }
  if (reading_.plane >= 0) {
    if (y.empty() || reading_.plane >= y[0]) refuse(fmt::format(": there are no labels {}", reading_.plane));
    y.erase(y.begin());
  }
  y_shape_ = y.empty() ? Shape{1} : Shape(y);
  if (file.has_attribute(reading_.y, "classes") && file.is_text(reading_.y, "classes"))
    classes_ = lines_of_attribute(file.text(reading_.y, "classes"));
}

void Hdf5SampleFile::choose_channels(const hdf5::Hdf5File& file) {
  const Extents known = channel_numbers(file, reading_.x, x_shape_[-1]);
  for (const std::int64_t channel : reading_.channels) {
    const auto found = std::ranges::find(known, channel);
    if (found == known.end())
      fail("{}: '{}' has no channel {}; there are {}", file.path().string(), reading_.x, channel,
           fmt::join(std::span(known).first(std::min<std::size_t>(known.size(), 32)), ", "));
    positions_.push_back(found - known.begin());
  }
  x_shape_[-1] = std::ssize(positions_);
}

// Counts are read as they are stored, into the last half of the floats they become.
void Hdf5SampleFile::read_scaled(Indices from, Indices extent, std::span<float> out) const {
  if (reading_.scaling == CountScaling::log && x_->stored().fits_int16()) {
    const std::span<std::int16_t> counts = last_half(out);
    x_->read_box<std::int16_t>(from, extent, counts);
    expand_counts(counts, reading_.scaling, out);
  } else {
    x_->read_box<float>(from, extent, out);
    apply_scaling(reading_.scaling, out);
  }
}

void Hdf5SampleFile::read_x(std::int64_t index, const Box& part, std::span<float> out) const {
  if (out.empty()) return;
  BoxAxes from, extent;  // every axis is set below
  const std::size_t rank = x_->shape().rank();
  const auto read = [&](std::span<float> to) {
    read_scaled(Indices(from).first(rank), Indices(extent).first(rank), to);
  };
  std::size_t first = 0;  // axis of a sample in the file
  if (reading_.sample_axis) from[first] = index, extent[first++] = 1;
  const std::size_t axis = reading_.channels_first ? first : rank - 1;  // of the channels, a sample's last axis
  if (reading_.channels_first) ++first;
  for (std::size_t a = 0; a + 1 < part.begin.size(); ++a)
    from[first + a] = part.begin[a], extent[first + a] = part.shape.extents()[a];
  const std::int64_t first_channel = part.begin.back(), channels = part.shape[-1];
  const Indices positions = positions_.empty() ? Indices() : Indices(positions_).subspan(first_channel, channels);
  if (positions.empty() || in_a_row(positions)) {
    from[axis] = positions.empty() ? first_channel : positions[0], extent[axis] = channels;
    if (!reading_.channels_first) return read(out);
    const std::span<float> planes = scratch(out.size());
    read(planes);
    return channels_to_last(planes, channels, out);
  }
  if (reading_.channels_first) {
    const std::span<float> planes = scratch(out.size());
    const std::size_t plane = out.size() / positions.size();
    extent[axis] = 1;
    for (std::size_t c = 0; c < positions.size(); ++c) {
      from[axis] = positions[c];
      read(planes.subspan(c * plane, plane));
    }
    return channels_to_last(planes, channels, out);
  }
  const std::int64_t there = x_->shape()[-1];
  from[axis] = 0, extent[axis] = there;
  const std::span<float> all = scratch(out.size() / positions.size() * there);
  read(all);
  float* to = out.data();
  for (const float* point = all.data(); point != all.data() + all.size(); point += there)
    for (const std::int64_t position : positions) *to++ = point[position];
}

void Hdf5SampleFile::read_y(std::int64_t index, const Box& part, std::span<float> out) const {
  if (out.empty()) return;
  BoxAxes from, extent;
  const std::size_t rank = y_->shape().rank();
  std::size_t first = 0;
  if (reading_.sample_axis) from[first] = index, extent[first++] = 1;
  if (reading_.plane >= 0) from[first] = reading_.plane, extent[first++] = 1;
  for (std::size_t a = 0; first + a < rank; ++a)
    from[first + a] = part.begin[a], extent[first + a] = part.shape.extents()[a];
  y_->read_box<float>(Indices(from).first(rank), Indices(extent).first(rank), out);
}

}  // namespace isobar::datasets
