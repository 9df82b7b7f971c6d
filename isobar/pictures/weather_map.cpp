#include "isobar/pictures/weather_map.hpp"

#include <algorithm>
#include <cmath>

#include "isobar/base/error.hpp"
#include "isobar/worlds/channels.hpp"

namespace isobar::pictures {
namespace {

using files::Colour;

// The palette: shades of water, the same darkened for coasts, then the colours of the outlines.
constexpr int shades = 120;
constexpr std::uint8_t cyclone_colour = 2 * shades, river_colour = 2 * shades + 1;
constexpr double most_water = 72;  // kg/m^2

struct Stop {
  double water;
  Colour colour;
};
constexpr Stop stops[] = {{0, {38, 22, 12}},     {6, {84, 56, 30}},     {14, {150, 115, 70}}, {22, {205, 185, 145}},
                          {29, {236, 234, 220}}, {36, {160, 206, 212}}, {44, {74, 158, 198}}, {52, {26, 92, 172}},
                          {60, {30, 40, 124}},   {67, {86, 44, 140}},   {72, {214, 128, 214}}};

Colour shade_of(double water) {
  std::size_t at = 0;
  while (at + 2 < std::size(stops) && stops[at + 1].water < water) ++at;
  const Stop &low = stops[at], &high = stops[at + 1];
  const double part = std::clamp((water - low.water) / (high.water - low.water), 0.0, 1.0);
  Colour mixed;
  for (std::size_t i = 0; i < 3; ++i)
    mixed[i] = static_cast<std::uint8_t>(std::lround(low.colour[i] + part * (high.colour[i] - low.colour[i])));
  return mixed;
}

std::vector<Colour> palette() {
  std::vector<Colour> colours;
  for (int i = 0; i < shades; ++i) colours.push_back(shade_of(most_water * i / (shades - 1)));
  for (int i = 0; i < shades; ++i) {
    Colour dark = colours[i];
    for (std::uint8_t& c : dark) c = static_cast<std::uint8_t>(c * 0.62);
    // On a dark background, lines are light.
    if (i < shades / 8) dark = {120, 100, 84};
    colours.push_back(dark);
  }
  colours.push_back({255, 48, 40});
  colours.push_back({255, 224, 32});
  return colours;
}

// Pixels of a set that have a neighbour outside it.
std::vector<std::uint8_t> edge(const std::vector<std::uint8_t>& set, int height, int width) {
  std::vector<std::uint8_t> result(set.size());
  for (int row = 0; row < height; ++row)
    for (int column = 0; column < width; ++column) {
      const auto at = [&](int r, int c) {
        r = std::clamp(r, 0, height - 1);
        return set[r * width + (c + width) % width] != 0;
      };
      result[row * width + column] = at(row, column) && !(at(row - 1, column) && at(row + 1, column) &&
                                                          at(row, column - 1) && at(row, column + 1));
    }
  return result;
}

}  // namespace

WeatherMap::WeatherMap(const worlds::SphereGrid& grid, int width) : grid_(grid), width_(width), height_(width / 2) {
  expects(width >= 16 && width <= 16384, "a map 16 to 16384 pixels wide");
  // Pixels have no row at the pole itself.
  std::vector<std::uint8_t> land(height_ * width_);
  const worlds::Land drawn = worlds::make_land({height_ + 1, width_});
  for (std::size_t pixel = 0; pixel < land.size(); ++pixel) {
    const std::size_t row = static_cast<std::size_t>(height_) - 1 - pixel / static_cast<std::size_t>(width_);
    land[pixel] =
        drawn.fraction[row * static_cast<std::size_t>(width_) + pixel % static_cast<std::size_t>(width_)] > 0.5;
  }
  coast_ = edge(land, height_, width_);
}

files::PaletteImage WeatherMap::draw(std::span<const float> state, std::span<const std::uint8_t> labels) const {
  expects(state.size() == grid_.cells() * worlds::channel_count && labels.size() == grid_.cells(),
          "a state and labels of the map's grid");
  worlds::Plane water(grid_.cells());
  for (std::size_t cell = 0; cell < water.size(); ++cell)
    water[cell] = state[cell * worlds::channel_count + worlds::TMQ];

  files::PaletteImage image{height_, width_, palette(), std::vector<std::uint8_t>(coast_.size())};
  std::vector<std::uint8_t> cyclones(coast_.size()), rivers(coast_.size());
  std::size_t pixel = 0;
  for (int row = 0; row < height_; ++row)
    for (int column = 0; column < width_; ++column, ++pixel) {
      const double r = (grid_.height - 1) * (1 - (row + 0.5) / height_), c = column * (double(grid_.width) / width_);
      const double amount = worlds::between(water.data(), grid_, static_cast<float>(r), static_cast<float>(c));
      const auto shade = std::clamp(static_cast<int>(std::lround(amount / most_water * (shades - 1))), 0, shades - 1);
      image.pixels[pixel] = static_cast<std::uint8_t>(shade + (coast_[pixel] != 0 ? shades : 0));
      const std::size_t nearest = static_cast<std::size_t>(std::lround(r)) * static_cast<std::size_t>(grid_.width) +
                                  static_cast<std::size_t>(std::lround(c)) % static_cast<std::size_t>(grid_.width);
      cyclones[pixel] = labels[nearest] == 1;
      rivers[pixel] = labels[nearest] == 2;
    }
  const auto outline = [&](const std::vector<std::uint8_t>& set, std::uint8_t colour) {
    const auto line = edge(set, height_, width_);
    for (std::size_t i = 0; i < line.size(); ++i)
      if (line[i] != 0) image.pixels[i] = colour;
  };
  outline(rivers, river_colour);
  outline(cyclones, cyclone_colour);
  return image;
}

}  // namespace isobar::pictures
