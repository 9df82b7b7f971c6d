// Holland's profile, its balanced wind and its effects.
#include "isobar/worlds/vortex.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "isobar/worlds/sphere.hpp"

namespace isobar::worlds {
namespace {

const Storm vortex_storm{.latitude = 18,
                         .longitude = 300,
                         .deficit = 5000,
                         .radius = 50e3,
                         .shape = 1.4,
                         .east = 0,
                         .north = 0,
                         .hours = 50,
                         .phase = 1};

TEST(Vortex, has_hollands_profile) {
  const Vortex vortex(vortex_storm, 1);
  EXPECT_NEAR(vortex.deficit(1), 5000, 1);
  EXPECT_NEAR(vortex.deficit(50e3), 5000 * (1 - std::exp(-1)), 1);
  // At the radius of maximum wind V^2 = B dp / (e rho), apart from the earth's rotation.
  EXPECT_NEAR(vortex.wind(50e3), std::sqrt(1.4 * 5000 / (std::exp(1) * 1.15)), 2.0);
  EXPECT_GT(vortex.wind(50e3), vortex.wind(25e3));
  EXPECT_GT(vortex.wind(50e3), vortex.wind(90e3));
}

TEST(Vortex, wind_balances_pressure) {
  const Vortex vortex(vortex_storm, 1);
  for (const double r : {4e4, 1e5, 3e5}) {
    const double gradient = -(vortex.deficit(r + 100) - vortex.deficit(r - 100)) / 200, v = vortex.wind(r);
    EXPECT_NEAR(v * v / r + coriolis(18) * v, gradient / 1.15, 2e-3 * gradient);
  }
}

TEST(Vortex, turns_with_its_hemisphere) {
  Storm south = vortex_storm;
  south.latitude = -18;
  EXPECT_GT(Vortex(vortex_storm, 1).at(18, 301).north, 10);       // anticlockwise: northward in the east
  EXPECT_LT(Vortex(south, 1).at(-18, 301).north, -10);            // clockwise
  EXPECT_LT(Vortex(vortex_storm, 1).at(18, 301).inflow_east, 0);  // friction: inward
}

TEST(Vortex, core_is_warm_wet_and_rainy) {
  const VortexEffect core = Vortex(vortex_storm, 1).at(18.3, 300), far = Vortex(vortex_storm, 1).at(26, 300),
                     none = Vortex(vortex_storm, 1).at(40, 300);
  EXPECT_GT(core.warm_200, 3);
  EXPECT_GT(core.warm_500, 3);
  EXPECT_GT(core.moisture, 8);
  EXPECT_GT(core.rain, 1e-6);
  EXPECT_LT(far.warm_200, 0.1);
  EXPECT_EQ(none.pressure, 0);
  EXPECT_EQ(none.rain, 0);
}

TEST(Vortex, coarse_grid_sees_it_wider_and_weaker) {
  const Vortex fine(vortex_storm, 25e3), coarse(vortex_storm, 200e3);
  EXPECT_LT(coarse.deficit(1), 0.7 * fine.deficit(1));
  EXPECT_GT(coarse.storm().radius, 2 * fine.storm().radius);
}

TEST(Vortex, swirl_brings_air_from_the_same_distance) {
  const std::vector<Vortex> one{Vortex(vortex_storm, 1)};
  const SpherePlace from = before_turning(one, {18, 301});
  EXPECT_NEAR(great_circle(from.latitude, from.longitude, 18, 300), great_circle(18, 301, 18, 300), 3e3);
  EXPECT_GT(great_circle(from.latitude, from.longitude, 18, 301), 2e4);
  const SpherePlace outside = before_turning(one, {50, 10});
  EXPECT_EQ(outside.latitude, 50);
  EXPECT_EQ(outside.longitude, 10);
}

}  // namespace
}  // namespace isobar::worlds
