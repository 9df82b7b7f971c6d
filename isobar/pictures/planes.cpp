#include "isobar/pictures/planes.hpp"

#include <algorithm>
#include <cmath>

namespace isobar::pictures {

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

}  // namespace isobar::pictures
