#include "isobar/worlds/spectrum.hpp"

#include <cmath>
#include <numbers>

#include "isobar/base/error.hpp"

namespace isobar::worlds {
namespace {

constexpr double cmb_kelvin = 2.7255;

// Equations 10, 19 and 20.
double pressureless(double q, double alpha, double beta) {
  const double c = 14.2 / alpha + 386.0 / (1.0 + 69.9 * std::pow(q, 1.08));
  const double l = std::log(std::numbers::e + 1.8 * beta * q);
  return l / (l + c * q * q);
}

}  // namespace

TransferFunction::TransferFunction(const Cosmology& cosmology) {
  check(cosmology);
  h_ = cosmology.h0 / 100.0;
  const double matter = cosmology.omega_m * h_ * h_, baryons = cosmology.omega_b * h_ * h_;
  const double theta2 = std::pow(cmb_kelvin / 2.7, 2);
  baryon_part_ = cosmology.omega_b / cosmology.omega_m;

  // Equations 2 to 7: equality, the drag epoch, the sound horizon, Silk damping.
  const double z_equality = 2.50e4 * matter / (theta2 * theta2);
  k_equality_ = 7.46e-2 * matter / theta2;
  const double b1 = 0.313 * std::pow(matter, -0.419) * (1.0 + 0.607 * std::pow(matter, 0.674));
  const double b2 = 0.238 * std::pow(matter, 0.223);
  const double z_drag =
      1291.0 * std::pow(matter, 0.251) / (1.0 + 0.659 * std::pow(matter, 0.828)) * (1.0 + b1 * std::pow(baryons, b2));
  const auto momentum_ratio = [&](double z) { return 31.5e3 * baryons / (theta2 * theta2 * z); };
  const double r_drag = momentum_ratio(z_drag), r_equality = momentum_ratio(z_equality);
  sound_horizon_ = 2.0 / (3.0 * k_equality_) * std::sqrt(6.0 / r_equality) *
                   std::log((std::sqrt(1.0 + r_drag) + std::sqrt(r_drag + r_equality)) / (1.0 + std::sqrt(r_equality)));
  k_silk_ = 1.6 * std::pow(baryons, 0.52) * std::pow(matter, 0.73) * (1.0 + std::pow(10.4 * matter, -0.95));

  // Equations 11 and 12: how baryons slow the growth of dark matter.
  const double f = baryon_part_;
  const double a1 = std::pow(46.9 * matter, 0.670) * (1.0 + std::pow(32.1 * matter, -0.532));
  const double a2 = std::pow(12.0 * matter, 0.424) * (1.0 + std::pow(45.0 * matter, -0.582));
  alpha_c_ = std::pow(a1, -f) * std::pow(a2, -f * f * f);
  const double c1 = 0.944 / (1.0 + std::pow(458.0 * matter, -0.708)), c2 = std::pow(0.395 * matter, -0.0266);
  beta_c_ = 1.0 / (1.0 + c1 * (std::pow(1.0 - f, c2) - 1.0));

  // Equations 14, 15, 23 and 24: amplitude and phase of the baryons' oscillation.
  const double y = (1.0 + z_equality) / (1.0 + z_drag), root = std::sqrt(1.0 + y);
  const double g = y * (-6.0 * root + (2.0 + 3.0 * y) * std::log((root + 1.0) / (root - 1.0)));
  alpha_b_ = 2.07 * k_equality_ * sound_horizon_ * std::pow(1.0 + r_drag, -0.75) * g;
  beta_b_ = 0.5 + f + (3.0 - 2.0 * f) * std::sqrt(std::pow(17.2 * matter, 2) + 1.0);
  beta_node_ = 8.41 * std::pow(matter, 0.435);
}

double TransferFunction::operator()(double k_h) const {
  const double k = k_h * h_, q = k / (13.41 * k_equality_), ks = k * sound_horizon_;

  // Equations 17 and 18: dark matter.
  const double f = 1.0 / (1.0 + std::pow(ks / 5.4, 4));
  const double dark = f * pressureless(q, 1.0, beta_c_) + (1.0 - f) * pressureless(q, alpha_c_, beta_c_);

  // Equations 21 and 22: baryons.
  const double phase = ks / std::cbrt(1.0 + std::pow(beta_node_ / ks, 3));
  const double bessel = phase > 1e-4 ? std::sin(phase) / phase : 1.0 - phase * phase / 6.0;
  const double baryons = (pressureless(q, 1.0, 1.0) / (1.0 + std::pow(ks / 5.2, 2)) +
                          alpha_b_ / (1.0 + std::pow(beta_b_ / ks, 3)) * std::exp(-std::pow(k / k_silk_, 1.4))) *
                         bessel;
  return baryon_part_ * baryons + (1.0 - baryon_part_) * dark;
}

double ball_window(double x) {
  // The closed form loses all digits near 0.
  if (x < 0.02) return 1.0 - x * x / 10.0;
  return 3.0 * (std::sin(x) - x * std::cos(x)) / (x * x * x);
}

PowerSpectrum::PowerSpectrum(const Cosmology& cosmology) : transfer_(cosmology), n_s_(cosmology.n_s) {
  const double raw = sigma(8.0);
  amplitude_ = cosmology.sigma_8 * cosmology.sigma_8 / (raw * raw);
}

double PowerSpectrum::operator()(double k) const {
  if (k <= 0) return 0.0;
  const double t = transfer_(k);
  return amplitude_ * std::pow(k, n_s_) * t * t;
}

double PowerSpectrum::sigma(double radius) const {
  expects(radius > 0, "a positive radius");
  // Simpson's rule in ln k. Less than 1e-6 of the variance lies beyond k * radius = 200.
  constexpr int intervals = 2048;
  const double low = std::log(1e-5), high = std::log(200.0 / radius), width = (high - low) / intervals;
  double sum = 0;
  for (int i = 0; i <= intervals; ++i) {
    const double k = std::exp(low + i * width), window = ball_window(k * radius);
    const double weight = i == 0 || i == intervals ? 1.0 : i % 2 ? 4.0 : 2.0;
    sum += weight * k * k * k * (*this)(k)*window * window;
  }
  return std::sqrt(sum * width / 3.0 / (2.0 * std::numbers::pi * std::numbers::pi));
}

}  // namespace isobar::worlds
