// The grid: areas, coordinates, distances and values between points.
#include "isobar/worlds/sphere.hpp"

#include <gtest/gtest.h>

namespace isobar::worlds {
namespace {

TEST(Sphere, cells_cover_it_exactly) {
  for (const SphereGrid grid : {SphereGrid{768, 1152}, SphereGrid{17, 24}}) {
    double area = 0;
    for (int row = 0; row < grid.height; ++row) area += grid.width * grid.cell_area(row);
    EXPECT_NEAR(area / (4 * std::numbers::pi * earth_radius * earth_radius), 1, 1e-12);
  }
}

TEST(Sphere, has_the_coordinates_of_climate_net) {
  const SphereGrid grid{768, 1152};
  EXPECT_DOUBLE_EQ(grid.latitude(0), -90);
  EXPECT_DOUBLE_EQ(grid.latitude(767), 90);
  EXPECT_NEAR(grid.latitude(476), 21.70795306, 1e-8);  // a point of the ClimateNet data
  EXPECT_DOUBLE_EQ(grid.longitude(880), 275);
  EXPECT_NEAR(grid.row_of(grid.latitude(100)), 100, 1e-9);
  EXPECT_NEAR(grid.column_of(-85), 880, 1e-9);
  EXPECT_EQ(grid.column_of(360), 0);
}

TEST(Sphere, distances_follow_great_circles) {
  const double quarter = earth_radius * std::numbers::pi / 2;
  EXPECT_NEAR(great_circle(0, 350, 0, 80), quarter, 1);
  EXPECT_NEAR(great_circle(90, 0, 0, 123), quarter, 1);
  EXPECT_NEAR(great_circle(60, 0, 60, 180), quarter * 2 / 3, 1);  // over the pole
  EXPECT_EQ(great_circle(12, 34, 12, 34), 0);
}

TEST(Sphere, between_points_is_linear_and_periodic) {
  const SphereGrid grid{9, 16};
  Plane plane(grid.cells());
  for (std::size_t cell = 0; cell < plane.size(); ++cell) plane[cell] = static_cast<float>(cell);
  EXPECT_FLOAT_EQ(between(plane.data(), grid, 2.25f, 3.5f), 2.25f * 16 + 3.5f);
  EXPECT_FLOAT_EQ(between(plane.data(), grid, 0, 15.5f), 7.5f);  // half way from column 15 to column 0
  EXPECT_FLOAT_EQ(between(plane.data(), grid, 8, 4), 8 * 16 + 4);
}

}  // namespace
}  // namespace isobar::worlds
