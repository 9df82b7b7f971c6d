#include "isobar/pictures/colour_map.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace isobar::pictures {
namespace {

// At equal distances along the map.
constexpr Colour stations[] = {{68, 1, 84},    {71, 44, 122}, {59, 81, 139},  {44, 113, 142}, {33, 144, 141},
                               {39, 173, 129}, {92, 200, 99}, {170, 220, 50}, {253, 231, 37}};
constexpr Colour classes[] = {{230, 159, 0}, {86, 180, 233},  {0, 158, 115}, {240, 228, 66},
                              {213, 94, 0},  {204, 121, 167}, {0, 114, 178}};

}  // namespace

Colour colour_at(float place) {
  if (std::isnan(place)) return {128, 128, 128};
  constexpr std::size_t last = std::size(stations) - 1;
  const float along = std::clamp(place, 0.0f, 1.0f) * static_cast<float>(last);
  const std::size_t before = std::min(static_cast<std::size_t>(along), last - 1);
  const float part = along - static_cast<float>(before);
  Colour colour;
  for (std::size_t c = 0; c < 3; ++c)
    colour[c] = static_cast<std::uint8_t>(std::lround((1 - part) * static_cast<float>(stations[before][c]) +
                                                      part * static_cast<float>(stations[before + 1][c])));
  return colour;
}

Colour class_colour(std::int64_t number) {
  constexpr std::int64_t count = std::size(classes);
  return classes[((number - 1) % count + count) % count];
}

Colour mixed(Colour a, Colour b, float part) {
  for (std::size_t c = 0; c < 3; ++c)
    a[c] =
        static_cast<std::uint8_t>(std::lround((1 - part) * static_cast<float>(a[c]) + part * static_cast<float>(b[c])));
  return a;
}

std::string hex(Colour colour) { return fmt::format("#{:02x}{:02x}{:02x}", colour[0], colour[1], colour[2]); }

}  // namespace isobar::pictures
