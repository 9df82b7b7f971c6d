#include "isobar/worlds/cosmology.hpp"

#include <cmath>

#include "isobar/base/error.hpp"

namespace isobar::worlds {
namespace {

// H(a) / H_0 * integral of da / (a H / H_0)^3. With a = t^2 the integrand is smooth down to t = 0.
double growing_mode(double omega_m, double a) {
  const double omega_l = 1.0 - omega_m;
  const auto integrand = [&](double t) {
    const double t2 = t * t, t6 = t2 * t2 * t2, x = omega_m + omega_l * t6;
    return 2.0 * t2 * t2 / (x * std::sqrt(x));
  };
  constexpr int intervals = 256;
  const double end = std::sqrt(a), width = end / intervals;
  double sum = integrand(0.0) + integrand(end);
  for (int i = 1; i < intervals; ++i) sum += (i % 2 ? 4.0 : 2.0) * integrand(i * width);
  return std::sqrt(omega_m / (a * a * a) + omega_l) * sum * width / 3.0;
}

}  // namespace

void check(const Cosmology& c) {
  if (!(c.omega_b > 0 && c.omega_m > c.omega_b && c.omega_m <= 1))
    fail_usage("cosmology: omega_m = {} with omega_b = {}; valid is 0 < omega_b < omega_m <= 1", c.omega_m, c.omega_b);
  if (!(c.sigma_8 > 0 && std::isfinite(c.sigma_8))) fail_usage("cosmology: sigma_8 = {} is not positive", c.sigma_8);
  if (!(c.h0 > 0 && std::isfinite(c.h0))) fail_usage("cosmology: h0 = {} km/s/Mpc is not positive", c.h0);
  if (!std::isfinite(c.n_s)) fail_usage("cosmology: n_s = {} is not a number", c.n_s);
}

double matter_share(const Cosmology& c, double redshift) {
  const double matter = c.omega_m * std::pow(1.0 + redshift, 3);
  return matter / (matter + 1.0 - c.omega_m);
}

double growth(const Cosmology& c, double redshift) {
  return growing_mode(c.omega_m, 1.0 / (1.0 + redshift)) / growing_mode(c.omega_m, 1.0);
}

double second_growth(const Cosmology& c, double redshift) {
  const double d = growth(c, redshift);
  return -3.0 / 7.0 * d * d * std::pow(matter_share(c, redshift), -1.0 / 143.0);
}

}  // namespace isobar::worlds
