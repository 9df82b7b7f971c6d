// Paths of the air in winds whose paths are known.
#include "isobar/worlds/stirring.hpp"

#include <gtest/gtest.h>

namespace isobar::worlds {
namespace {

Past steady(float rows, float columns, std::size_t moments) {
  const SphereGrid grid{61, 120};
  return {grid, 6, std::vector<Flow>(moments, Flow{Plane(grid.cells(), rows), Plane(grid.cells(), columns)})};
}

TEST(Stirring, steady_wind_is_followed_back) {
  std::vector<Waypoint> way(5);
  trace_back(steady(0.1f, 0.5f, 5), {30, 10}, way);
  EXPECT_FLOAT_EQ(way[0].column, 10);
  EXPECT_NEAR(way[4].row, 30 - 0.1 * 24, 1e-4);
  EXPECT_NEAR(way[4].column, 10 - 0.5 * 24 + 120, 1e-3);  // across the date line
}

TEST(Stirring, air_stays_on_the_grid) {
  std::vector<Waypoint> way(9);
  for (const float rows : {-3.0f, 3.0f}) {
    trace_back(steady(rows, -7.3f, 9), {30, 119.9f}, way);
    for (const Waypoint& p : way) {
      EXPECT_GE(p.row, 0);
      EXPECT_LE(p.row, 60);
      EXPECT_GE(p.column, 0);
      EXPECT_LT(p.column, 120);
    }
  }
}

TEST(Stirring, half_way_takes_the_shorter_side) {
  const SphereGrid grid{61, 120};
  EXPECT_FLOAT_EQ(half_way(grid, {10, 20}, {12, 24}).column, 22);
  EXPECT_FLOAT_EQ(half_way(grid, {10, 20}, {12, 24}).row, 11);
  EXPECT_FLOAT_EQ(half_way(grid, {10, 119}, {10, 3}).column, 1);
  EXPECT_FLOAT_EQ(half_way(grid, {10, 3}, {10, 119}).column, 1);
}

// Air that circles a centre returns to its place: the second-order rule keeps the circle closed.
TEST(Stirring, circles_close) {
  const SphereGrid grid{61, 120};
  const double turn = 2 * std::numbers::pi / 96;  // radians per hour
  Flow flow{Plane(grid.cells()), Plane(grid.cells())};
  for (int row = 0; row < 61; ++row)
    for (int column = 0; column < 120; ++column) {
      flow.rows[static_cast<std::size_t>(row * 120 + column)] = static_cast<float>(turn * (column - 60));
      flow.columns[static_cast<std::size_t>(row * 120 + column)] = static_cast<float>(-turn * (row - 30));
    }
  const Past past{grid, 2, std::vector<Flow>(49, flow)};
  std::vector<Waypoint> way(49);
  trace_back(past, {30, 70}, way);
  EXPECT_NEAR(way[48].row, 30, 0.3);
  EXPECT_NEAR(way[48].column, 70, 0.3);
  EXPECT_NEAR(way[24].column, 50, 0.3);
}

}  // namespace
}  // namespace isobar::worlds
