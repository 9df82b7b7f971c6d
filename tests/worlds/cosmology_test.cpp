// Growth compared with Einstein-de Sitter and with its differential equation; bad parameters.
#include "isobar/worlds/cosmology.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "isobar/base/error.hpp"

namespace isobar::worlds {
namespace {

// D'' + (2 + H'/H) D' = 3/2 Omega_m(a) D with ' = d/dln a, started deep in matter domination where D = a.
double integrated_growth(const Cosmology& c, double redshift) {
  const auto slope = [&](double ln_a, double d, double v) {
    const double share = matter_share(c, std::exp(-ln_a) - 1.0);
    return 1.5 * share * d - (2.0 - 1.5 * share) * v;
  };
  const auto run = [&](double end) {
    const double start = std::log(1e-4);
    const int steps = 4000;
    const double h = (end - start) / steps;
    double d = 1e-4, v = 1e-4;
    for (int i = 0; i < steps; ++i) {
      const double t = start + i * h;
      const double d1 = v, v1 = slope(t, d, v);
      const double d2 = v + h / 2 * v1, v2 = slope(t + h / 2, d + h / 2 * d1, v + h / 2 * v1);
      const double d3 = v + h / 2 * v2, v3 = slope(t + h / 2, d + h / 2 * d2, v + h / 2 * v2);
      const double d4 = v + h * v3, v4 = slope(t + h, d + h * d3, v + h * v3);
      d += h / 6 * (d1 + 2 * d2 + 2 * d3 + d4);
      v += h / 6 * (v1 + 2 * v2 + 2 * v3 + v4);
    }
    return d;
  };
  return run(-std::log(1.0 + redshift)) / run(0.0);
}

TEST(Cosmology, matter_alone_grows_with_the_scale_factor) {
  const Cosmology c{.omega_m = 1.0};
  for (double z : {0.0, 0.5, 1.5, 3.0, 49.0}) EXPECT_NEAR(growth(c, z) * (1.0 + z), 1.0, 1e-7) << "z = " << z;
}

TEST(Cosmology, growth_solves_its_differential_equation) {
  for (double omega_m : {0.2, 0.3, 0.4})
    for (double z : {0.5, 1.5, 3.0}) {
      const Cosmology c{.omega_m = omega_m};
      EXPECT_NEAR(growth(c, z) / integrated_growth(c, z), 1.0, 1e-5) << "omega_m = " << omega_m << ", z = " << z;
    }
}

TEST(Cosmology, second_order_growth_is_minus_three_sevenths_of_the_square) {
  EXPECT_NEAR(second_growth({.omega_m = 1.0}, 1.0), -3.0 / 7.0 / 4.0, 1e-7);
  EXPECT_NEAR(second_growth({.omega_m = 0.3}, 0.0), -3.0 / 7.0 * std::pow(0.3, -1.0 / 143.0), 1e-12);
}

TEST(Cosmology, impossible_parameters_are_refused) {
  EXPECT_NO_THROW(check({}));
  EXPECT_THROW(check({.omega_m = 0.04}), UsageError);
  EXPECT_THROW(check({.omega_m = 1.2}), UsageError);
  EXPECT_THROW(check({.sigma_8 = 0}), UsageError);
  EXPECT_THROW(check({.n_s = NAN}), UsageError);
  EXPECT_THROW(check({.h0 = -70}), UsageError);
  EXPECT_THROW(check({.omega_b = 0}), UsageError);
}

}  // namespace
}  // namespace isobar::worlds
