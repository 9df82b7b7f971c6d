#include "isobar/pictures/sample_picture.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "isobar/base/error.hpp"

namespace isobar::pictures {
namespace {

std::uint8_t byte_of(float part) { return static_cast<std::uint8_t>(std::lround(255 * std::clamp(part, 0.0f, 1.0f))); }

}  // namespace

SamplePicture::SamplePicture(const Shape& x, const std::vector<std::string>& channels, std::int64_t most_edge)
    : planes_(x, true) {
  expects(x.rank() >= 1 && x.count() > 0 && most_edge > 0, "a field with numbers and pixels to show them");
  const auto known = [&](std::string_view name) { return std::ranges::find(channels, name) != channels.end(); };
  if (known("TMQ")) channel_ = std::ranges::find(channels, "TMQ") - channels.begin();
  channel_ = std::min(channel_, planes_.channels - 1);
  turned_ = known("TMQ") && known("U850");
  if (channel_ < std::ssize(channels)) name_ = channels[channel_];
  else if (planes_.channels > 1) name_ = fmt::format("channel {} of {}", channel_, planes_.channels);
  if (channels.empty() && x.rank() <= 3) {
    if (planes_.channels == 3) kind_ = Kind::red_green_blue, name_.clear();
    if (planes_.channels == 1 && x.rank() == 3) kind_ = Kind::grey;
  }
  reduced_ = (std::max(planes_.height, planes_.width) + most_edge - 1) / most_edge;
  height_ = std::max<std::int64_t>(1, planes_.height / reduced_);
  width_ = std::max<std::int64_t>(1, planes_.width / reduced_);
}

std::string SamplePicture::shown() const {
  return planes_.shape.rank() > 3 ? name_ + (name_.empty() ? "" : ", ") + "middle layer" : name_;
}

// Over the points that become one pixel.
float SamplePicture::mean(const Plane& plane, std::int64_t row, std::int64_t column) const {
  float sum = 0;
  std::int64_t count = 0;
  for (std::int64_t y = row * reduced_; y < std::min((row + 1) * reduced_, plane.height); ++y)
    for (std::int64_t x = column * reduced_; x < std::min((column + 1) * reduced_, plane.width); ++x, ++count)
      sum += plane.at(y, x);
  return sum / static_cast<float>(count);
}

std::vector<float> SamplePicture::brightness(std::span<const float> numbers, std::int64_t channel) const {
  const Plane plane = planes_.plane(numbers, channel);
  auto [low, high] = range_of(plane);
  if (is_picture(numbers, planes_.channels, planes_.shape)) low = 0, high = 255;
  const float width = high > low ? high - low : 1;
  std::vector<float> result;
  for (std::int64_t row = 0; row < height_; ++row)
    for (std::int64_t column = 0; column < width_; ++column)
      result.push_back((mean(plane, turned_ ? height_ - 1 - row : row, column) - low) / width);
  return result;
}

template <class PixelOf>
files::Image SamplePicture::drawn(PixelOf pixel_of) const {
  files::Image image{height_, width_, 3, {}};
  image.pixels.reserve(height_ * width_ * 3);
  for (std::int64_t i = 0; i < height_ * width_; ++i)
    for (const std::uint8_t c : pixel_of(i)) image.pixels.push_back(c);
  return image;
}

files::Image SamplePicture::colours(std::span<const float> numbers) const {
  const std::vector<float> first = brightness(numbers, channel_);
  if (kind_ == Kind::colours) return drawn([&](std::size_t i) { return colour_at(first[i]); });
  if (kind_ == Kind::grey)
    return drawn([&](std::size_t i) -> Colour {
      const std::uint8_t grey = byte_of(first[i]);
      return {grey, grey, grey};
    });
  const std::vector<float> second = brightness(numbers, 1), third = brightness(numbers, 2);
  return drawn([&](std::size_t i) -> Colour { return {byte_of(first[i]), byte_of(second[i]), byte_of(third[i])}; });
}

files::Image SamplePicture::greys(std::span<const float> numbers) const {
  const std::vector<float> first = brightness(numbers, channel_);
  return drawn([&](std::size_t i) -> Colour {
    const std::uint8_t grey = byte_of(0.35f + 0.6f * std::clamp(first[i], 0.0f, 1.0f));
    return {grey, grey, grey};
  });
}

std::vector<std::uint16_t> SamplePicture::classes(std::span<const std::uint16_t> places) const {
  const std::int64_t layer = planes_.begin / planes_.channels;
  expects(std::ssize(places) >= layer + planes_.height * planes_.width, "a class for each place");
  std::vector<std::uint16_t> result;
  for (std::int64_t row = 0; row < height_; ++row)
    for (std::int64_t column = 0; column < width_; ++column) {
      const std::int64_t y = (turned_ ? height_ - 1 - row : row) * reduced_ + reduced_ / 2;
      const std::int64_t x = column * reduced_ + reduced_ / 2;
      result.push_back(
          places[layer + std::min(y, planes_.height - 1) * planes_.width + std::min(x, planes_.width - 1)]);
    }
  return result;
}

void tint(files::Image& image, std::span<const std::uint16_t> classes, float part) {
  for (std::size_t i = 0; i < classes.size(); ++i) {
    if (classes[i] == 0) continue;
    std::uint8_t* pixel = image.pixels.data() + 3 * i;
    std::ranges::copy(mixed({pixel[0], pixel[1], pixel[2]}, class_colour(classes[i]), part), pixel);
  }
}

}  // namespace isobar::pictures
