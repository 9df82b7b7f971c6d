// Connected pieces of masks of known size.
#include "isobar/worlds/components.hpp"

#include <gtest/gtest.h>

namespace isobar::worlds {
namespace {

const SphereGrid grid{181, 360};

std::size_t cell(int latitude, int longitude) {
  return static_cast<std::size_t>((latitude + 90) * 360 + (longitude + 360) % 360);
}

TEST(Components, touch_by_corners_and_across_the_seam) {
  Mask mask(grid.cells());
  mask[cell(10, 359)] = mask[cell(11, 0)] = mask[cell(12, 1)] = 1;  // one piece
  mask[cell(40, 100)] = mask[cell(40, 102)] = 1;                    // two
  const auto pieces = components(grid, mask);
  ASSERT_EQ(pieces.size(), 3u);
  EXPECT_EQ(pieces[0].cells.size(), 3u);
}

TEST(Components, do_not_reach_over_the_poles) {
  Mask mask(grid.cells());
  mask[cell(90, 0)] = mask[cell(-90, 0)] = mask[0] = 1;
  EXPECT_EQ(components(grid, mask).size(), 2u);
  EXPECT_TRUE(components(grid, Mask(grid.cells())).empty());
}

// A band along a parallel of known length and width, in kilometres.
TEST(Components, are_measured_on_the_sphere) {
  for (const int latitude : {0, 50}) {
    Mask mask(grid.cells());
    for (int x = 350; x < 380; ++x)
      for (int y = latitude; y < latitude + 4; ++y) mask[cell(y, x)] = 1;
    const auto pieces = components(grid, mask);
    ASSERT_EQ(pieces.size(), 1u);
    const ComponentExtent size = extent(grid, pieces[0]);
    const double narrow = std::cos((latitude + 1.5) * degree), kilometres = 111.2;
    EXPECT_NEAR(size.area / 1e6, 30 * 4 * kilometres * kilometres * narrow, 0.01 * size.area / 1e6);
    EXPECT_NEAR(size.length / 1e3, 30 * kilometres * narrow, 0.06 * size.length / 1e3);
    EXPECT_NEAR(size.width() / 1e3, 4 * kilometres, 0.06 * size.width() / 1e3);
  }
}

TEST(Components, size_is_that_of_the_shape_not_of_the_grid) {
  double lengths[2];
  int i = 0;
  for (const SphereGrid g : {SphereGrid{181, 360}, SphereGrid{721, 1440}}) {
    Mask mask(g.cells());
    for (int row = 0; row < g.height; ++row)
      for (int column = 0; column < g.width; ++column)
        // A slanted filament.
        if (std::abs(g.latitude(row) - 30 - (g.longitude(column) - 100) / 2) < 3 &&
            std::abs(g.longitude(column) - 115) < 15)
          mask[static_cast<std::size_t>(row * g.width + column)] = 1;
    const auto pieces = components(g, mask);
    ASSERT_EQ(pieces.size(), 1u);
    lengths[i++] = extent(g, pieces[0]).length;
  }
  EXPECT_NEAR(lengths[0] / lengths[1], 1, 0.04);
}

}  // namespace
}  // namespace isobar::worlds
