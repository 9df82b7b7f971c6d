// Land is in the right places, in a plausible amount.
#include "isobar/worlds/land.hpp"

#include <gtest/gtest.h>

namespace isobar::worlds {
namespace {

TEST(Land, lies_where_it_does) {
  for (const auto& [y, x] :
       {std::pair{40, 260}, {-10, 300}, {10, 20}, {50, 100}, {-25, 135}, {-85, 40}, {72, 320}, {67, 185}, {-19, 47}})
    EXPECT_TRUE(is_land(y, x)) << y << " " << x;
  for (const auto& [y, x] :
       {std::pair{0, 200}, {30, 320}, {-40, 80}, {15, 65}, {25, 270}, {85, 0}, {-60, 200}, {23, 277}})
    EXPECT_FALSE(is_land(y, x)) << y << " " << x;
  EXPECT_EQ(is_land(40, 260), is_land(40, -100));
}

TEST(Land, covers_three_tenths_of_the_earth_on_any_grid) {
  for (const SphereGrid grid : {SphereGrid{192, 288}, SphereGrid{49, 73}}) {
    const Land land = make_land(grid);
    double area = 0;
    for (std::size_t cell = 0; cell < grid.cells(); ++cell) {
      ASSERT_GE(land.fraction[cell], 0);
      ASSERT_LE(land.fraction[cell], 1);
      area += land.fraction[cell] * grid.cell_area(static_cast<int>(cell) / grid.width);
    }
    EXPECT_NEAR(area / (4 * std::numbers::pi * earth_radius * earth_radius), 0.29, 0.03);
  }
}

TEST(Land, tibet_is_high_and_the_sea_is_flat) {
  const SphereGrid grid{181, 360};
  const Land land = make_land(grid);
  EXPECT_GT(land.height[static_cast<std::size_t>((33 + 90) * 360 + 88)], 4000);
  EXPECT_EQ(land.height[static_cast<std::size_t>((0 + 90) * 360 + 200)], 0);
}

TEST(Land, grid_agrees_with_points) {
  const SphereGrid grid{361, 720};
  const Land land = make_land(grid);
  int different = 0;
  for (int row = 1; row < 360; row += 3)
    for (int column = 0; column < 720; column += 3) {
      const float f = land.fraction[static_cast<std::size_t>(row * 720 + column)];
      if (f == 0 || f == 1) different += is_land(grid.latitude(row), grid.longitude(column)) != (f == 1);
    }
  EXPECT_LE(different, 3);
}

}  // namespace
}  // namespace isobar::worlds
