#include "isobar/worlds/spectrum.hpp"

#include <cmath>
#include <numbers>

#include "isobar/base/error.hpp"

namespace isobar::worlds {

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
