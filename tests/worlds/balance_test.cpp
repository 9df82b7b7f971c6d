// Winds and pressure of known streamfunctions.
#include <gtest/gtest.h>

#include "isobar/worlds/sphere.hpp"

namespace isobar::worlds {
namespace {

// psi = -U a sin(latitude) is a solid rotation: u = U cos(latitude), v = 0.
TEST(Balance, solid_rotation_blows_east) {
  const SphereGrid grid{181, 360};
  Plane psi(grid.cells());
  for (std::size_t cell = 0; cell < psi.size(); ++cell)
    psi[cell] = static_cast<float>(-20 * earth_radius * std::sin(grid.latitude(static_cast<int>(cell) / 360) * degree));
  for (const int row : {10, 90, 150}) {
    const Wind wind = wind_of(psi, grid, row, 0);
    EXPECT_NEAR(wind.east, 20 * std::cos(grid.latitude(row) * degree), 0.05);
    EXPECT_NEAR(wind.north, 0, 1e-6);
  }
}

TEST(Balance, wind_blows_around_a_low_as_it_should) {
  const SphereGrid grid{181, 360};
  for (const double side : {1.0, -1.0}) {
    // A low: negative streamfunction in the north, positive in the south.
    Plane psi(grid.cells());
    for (int row = 0; row < grid.height; ++row)
      for (int column = 0; column < grid.width; ++column) {
        const double r = great_circle(grid.latitude(row), grid.longitude(column), side * 45, 180) / 5e5;
        psi[static_cast<std::size_t>(row * grid.width + column)] = static_cast<float>(-side * 8e6 * std::exp(-r * r));
      }
    const int row = static_cast<int>(grid.row_of(side * 45));
    EXPECT_LT(balanced_pressure(psi[static_cast<std::size_t>(row * 360 + 180)], side * 45), -500);
    // East of the low the wind goes poleward.
    EXPECT_GT(side * wind_of(psi, grid, row, 185).north, 5);
    EXPECT_LT(side * wind_of(psi, grid, row, 175).north, -5);
    // And it is the geostrophic one: rho f v = dp/dx.
    const double metres = earth_radius * degree * std::cos(45 * degree);
    const auto pressure = [&](int column) {
      return balanced_pressure(psi[static_cast<std::size_t>(row * 360 + column)], side * 45);
    };
    EXPECT_NEAR(wind_of(psi, grid, row, 184).north,
                (pressure(185) - pressure(183)) / (2 * metres * 1.2 * coriolis(side * 45)), 0.01);
  }
}

TEST(Balance, equator_has_wind_but_no_pressure) { EXPECT_EQ(balanced_pressure(1e7, 0), 0); }

}  // namespace
}  // namespace isobar::worlds
