#include "isobar/report/plane.hpp"

#include <cmath>
#include <vector>

namespace isobar::report {
namespace {

constexpr std::int64_t most_edge = 288, least_edge = 96;

}  // namespace

Planes::Planes(const Shape& of, bool with_channels) : shape(of) {
  std::vector<std::int64_t> places = of.extents();
  if (with_channels && places.size() >= 3) {
    channels = places.back();
    places.pop_back();
  }
  std::int64_t size = channels;
  for (std::size_t left = places.size(); left > 0; --left) {
    const std::size_t from_end = places.size() - left;
    const std::int64_t extent = places[left - 1];
    if (from_end == 0) width = extent;
    else if (from_end == 1) height = extent;
    else if (from_end == 2) begin = extent / 2 * size;  // what lies further out begins at its first
    size *= extent;
  }
}

std::pair<float, float> range_of(const Plane& plane) {
  std::vector<float> some;
  const std::int64_t count = plane.height * plane.width, step = std::max<std::int64_t>(1, count / 8192);
  for (std::int64_t i = 0; i < count; i += step)
    if (const float value = plane.at(i / plane.width, i % plane.width); std::isfinite(value)) some.push_back(value);
  if (some.empty()) return {0.0f, 1.0f};
  std::ranges::sort(some);
  const std::size_t out = some.size() / 200;
  return {some[out], some[some.size() - 1 - out]};
}

bool is_picture(std::span<const float> numbers, std::int64_t channels, const Shape& shape) {
  return (channels == 1 || channels == 3) && shape.rank() == 3 && std::ranges::max(numbers) > 2 &&
         std::ranges::all_of(numbers, [](float v) { return v >= 0 && v <= 255 && v == std::floor(v); });
}

Colour tinted(Colour colour, float label) {
  const auto grey = static_cast<std::uint8_t>((colour[0] + 2 * colour[1] + colour[2]) / 4);
  const Colour plain{grey, grey, grey};
  return label >= 1 ? mixed(class_colour(std::llround(label)), plain) : plain;
}

PlanePanel::PlanePanel(std::int64_t rows, std::int64_t columns) {
  const std::int64_t longer = std::max(rows, columns);
  enlarged_ = longer >= least_edge ? 1 : (least_edge + longer - 1) / longer;
  reduced_ = (longer + most_edge - 1) / most_edge;
  // A row of numbers becomes a band that can be seen.
  stretched_ = rows == 1 ? std::max<std::int64_t>(1, 16 / enlarged_) : 1;
  height = std::max<std::int64_t>(1, rows * enlarged_ * stretched_ / reduced_);
  width = std::max<std::int64_t>(1, columns * enlarged_ / reduced_);
}

}  // namespace isobar::report
