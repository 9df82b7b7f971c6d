// Maps: size, colours that follow the water, outlines that follow the labels.
#include "isobar/pictures/weather_map.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "isobar/worlds/channels.hpp"

namespace isobar::pictures {
namespace {

constexpr worlds::SphereGrid grid{33, 64};

struct Scene {
  std::vector<float> state = std::vector<float>(grid.cells() * worlds::channel_count);
  std::vector<std::uint8_t> labels = std::vector<std::uint8_t>(grid.cells());
};

int brightness(const files::PaletteImage& image, int row, int column) {
  const files::Colour c = image.colours[image.pixels[static_cast<std::size_t>(row * image.width + column)]];
  return c[0] + c[1] + c[2];
}

TEST(WeatherMap, NorthIsUpAndWaterHasColour) {
  Scene scene;
  // Dry in the south, 29 kg/m^2 in the north: dark brown and nearly white. Column 40 is sea in both.
  for (std::size_t cell = grid.cells() / 2; cell < grid.cells(); ++cell) scene.state[cell * worlds::channel_count] = 29;
  const WeatherMap map(grid, 128);
  const files::PaletteImage image = map.draw(scene.state, scene.labels);
  EXPECT_EQ(image.width, 128);
  EXPECT_EQ(image.height, 64);
  EXPECT_LE(image.colours.size(), 256u);
  EXPECT_GT(brightness(image, 12, 70), 600);
  EXPECT_LT(brightness(image, 50, 70), 150);
}

TEST(WeatherMap, LabelsAreOutlined) {
  Scene scene;
  const WeatherMap map(grid, 256);
  const files::PaletteImage plain = map.draw(scene.state, scene.labels);
  for (std::size_t row = 10; row < 20; ++row)
    for (std::size_t column = 30; column < 50; ++column) scene.labels[row * 64 + column] = 2;
  scene.labels[5 * 64 + 20] = 1;
  const files::PaletteImage image = map.draw(scene.state, scene.labels);
  const auto count = [&](files::Colour colour) {
    return std::ranges::count_if(image.pixels, [&](std::uint8_t p) { return image.colours[p] == colour; });
  };
  const auto yellow = count({255, 224, 32}), red = count({255, 48, 40});
  // A line around 40 x 80 pixels, not all of them.
  EXPECT_GT(yellow, 200);
  EXPECT_LT(yellow, 400);
  EXPECT_GT(red, 3);
  EXPECT_LT(red, 20);
  EXPECT_NE(image.pixels, plain.pixels);
}

}  // namespace
}  // namespace isobar::pictures
