// Random fields: spectrum, isotropy, energy, motion in time.
#include "isobar/worlds/eddies.hpp"

#include <gtest/gtest.h>

#include "isobar/worlds/sphere.hpp"

namespace isobar::worlds {
namespace {

Plane field(const Eddies& eddies, const SphereGrid& grid, double hour, int top) {
  const std::vector<Coefficients> c{eddies.at(hour, top)};
  std::vector<Plane> planes(1);
  Harmonics(grid, 1).synthesise(c, planes);
  return planes[0];
}

double spread(const Plane& plane, const SphereGrid& grid, int first, int last) {
  double sum = 0, count = 0;
  for (int row = first; row < last; ++row)
    for (int column = 0; column < grid.width; ++column, ++count) {
      const double v = plane[static_cast<std::size_t>(row * grid.width + column)];
      sum += v * v;
    }
  return std::sqrt(sum / count);
}

TEST(Eddies, follow_the_spectrum_of_the_atmosphere) {
  const std::vector<float> deviation = eddy_deviations({EddyKind::wind, 10, 20, 90});
  const auto energy = [&](int l) {
    const double d = deviation[static_cast<std::size_t>(l)];
    return d * d * (2 * l + 1) * double(l) * (l + 1);
  };
  const auto slope = [&](int a, int b) { return std::log(energy(b) / energy(a)) / std::log(double(b) / a); };
  EXPECT_NEAR(slope(18, 30), -2.8, 0.3);         // synoptic scales: -3, slightly flattened by the mesoscale
  EXPECT_NEAR(slope(250, 380), -5.0 / 3, 0.35);  // mesoscale
  EXPECT_GT(energy(10), energy(2) * 2);
}

TEST(Eddies, are_as_strong_at_the_poles_as_at_the_equator) {
  const SphereGrid grid{97, 192};
  double polar = 0, equatorial = 0;
  for (int i = 0; i < 12; ++i) {
    const Plane plane =
        field(Eddies({EddyKind::scalar, 20, 0, 50}, Random(5, static_cast<std::uint64_t>(i))), grid, 0, 40);
    polar += std::pow(spread(plane, grid, 0, 8), 2) + std::pow(spread(plane, grid, 89, 97), 2);
    equatorial += 2 * std::pow(spread(plane, grid, 40, 57), 2);
  }
  EXPECT_NEAR(polar / equatorial, 1, 0.25);
}

TEST(Eddies, winds_of_the_streamfunction_have_variance_one) {
  const SphereGrid grid{193, 384};
  const Plane psi = field(Eddies({EddyKind::wind, 10, 20, 90}, Random(3)), grid, 7, 96);
  double east = 0, north = 0, area = 0;
  for (int row = 1; row + 1 < grid.height; ++row)
    for (int column = 0; column < grid.width; ++column) {
      const Wind wind = wind_of(psi, grid, row, column);
      const double a = grid.cell_area(row);
      east += a * wind.east * wind.east;
      north += a * wind.north * wind.north;
      area += a;
    }
  EXPECT_NEAR(east / area, 1, 0.2);
  EXPECT_NEAR(north / area, 1, 0.2);
}

TEST(Eddies, move_smoothly_and_forget) {
  const SphereGrid grid{49, 96};
  const Eddies eddies({EddyKind::wind, 10, 20, 90}, Random(1));
  const auto likeness = [&](double a, double b) {
    const Plane x = field(eddies, grid, a, 24), y = field(eddies, grid, b, 24);
    double xy = 0, xx = 0, yy = 0;
    for (std::size_t i = 0; i < x.size(); ++i) xy += x[i] * y[i], xx += x[i] * x[i], yy += y[i] * y[i];
    return xy / std::sqrt(xx * yy);
  };
  EXPECT_GT(likeness(100, 101), 0.99);
  EXPECT_GT(likeness(100, 103), 0.92);
  EXPECT_LT(std::abs(likeness(100, 900)), 0.5);
  EXPECT_GT(likeness(-3, 0), 0.92);
}

TEST(Eddies, low_degrees_do_not_depend_on_the_grid) {
  const Eddies eddies({EddyKind::wind, 10, 20, 90}, Random(1));
  const Coefficients coarse = eddies.at(11, 10), fine = eddies.at(11, 60, 2);
  for (int m = 0; m <= 10; ++m)
    for (int l = m; l <= 10; ++l) EXPECT_EQ(coarse(l, m), fine(l, m));
}

}  // namespace
}  // namespace isobar::worlds
