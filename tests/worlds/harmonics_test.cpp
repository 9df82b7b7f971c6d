// Harmonics compared with their closed forms, their norm at high degree, and threads.
#include "isobar/worlds/harmonics.hpp"

#include <gtest/gtest.h>

namespace isobar::worlds {
namespace {

Plane one(const SphereGrid& grid, int l, int m, std::complex<float> c, int top) {
  std::vector<Coefficients> fields{Coefficients(top)};
  fields[0](l, m) = c;
  std::vector<Plane> planes(1);
  Harmonics(grid, 1).synthesise(fields, planes);
  return planes[0];
}

// The closed forms of a few harmonics with mean square one.
TEST(Harmonics, are_those_of_the_books) {
  const SphereGrid grid{33, 64};
  const Plane p20 = one(grid, 2, 0, 1, 12), y11 = one(grid, 1, 1, 1, 12), y21 = one(grid, 2, 1, {0, 1}, 12);
  for (int row = 0; row < grid.height; ++row)
    for (int column = 0; column < grid.width; ++column) {
      const std::size_t cell = static_cast<std::size_t>(row * grid.width + column);
      const double s = std::sin(grid.latitude(row) * degree), c = std::cos(grid.latitude(row) * degree);
      const double x = grid.longitude(column) * degree;
      EXPECT_NEAR(p20[cell], std::sqrt(5.0) * (3 * s * s - 1) / 2, 1e-5);
      // A real field has the harmonic and its conjugate.
      EXPECT_NEAR(y11[cell], 2 * std::sqrt(1.5) * c * std::cos(x), 1e-5);
      EXPECT_NEAR(y21[cell], -2 * std::sqrt(7.5) * s * c * std::sin(x), 1e-5);
    }
}

TEST(Harmonics, have_mean_square_one_up_to_high_degree) {
  const SphereGrid grid{385, 800};
  for (const auto& [l, m] : {std::pair{3, 0}, {150, 0}, {150, 2}, {150, 77}, {150, 150}, {383, 190}}) {
    const Plane plane = one(grid, l, m, 1, 383);
    double sum = 0;
    for (std::size_t cell = 0; cell < plane.size(); ++cell)
      sum += grid.cell_area(static_cast<int>(cell) / grid.width) * plane[cell] * plane[cell];
    EXPECT_NEAR(sum / (4 * std::numbers::pi * earth_radius * earth_radius), m == 0 ? 1 : 2, 0.02) << l << " " << m;
  }
}

TEST(Harmonics, do_not_depend_on_threads) {
  const SphereGrid grid{49, 96};
  std::vector<Coefficients> fields(3, Coefficients(20));
  for (int f = 0; f < 3; ++f)
    for (int m = 0; m <= 20; ++m)
      for (int l = m; l <= 20; ++l)
        fields[static_cast<std::size_t>(f)](l, m) = {std::sin(1.0f * static_cast<float>(l * 31 + m * 7 + f)),
                                                     m == 0 ? 0.0f : 0.3f};
  std::vector<Plane> a(3), b(3);
  Harmonics(grid, 1).synthesise(fields, a);
  Harmonics(grid, 3).synthesise(fields, b);
  EXPECT_EQ(a, b);
}

}  // namespace
}  // namespace isobar::worlds
