// The transfer function's limits and acoustic wiggles, and the normalisation of the power spectrum.
#include "isobar/worlds/spectrum.hpp"

#include <cmath>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

namespace isobar::worlds {
namespace {

// The fit without oscillations from the same paper (equations 26 and 28 to 31), with other coefficients.
double smooth_transfer(const Cosmology& c, double k) {
  const double h = c.h0 / 100, matter = c.omega_m * h * h, baryons = c.omega_b * h * h, part = c.omega_b / c.omega_m;
  const double horizon = 44.5 * std::log(9.83 / matter) / std::sqrt(1 + 10 * std::pow(baryons, 0.75));
  const double alpha = 1 - 0.328 * std::log(431 * matter) * part + 0.38 * std::log(22.3 * matter) * part * part;
  const double gamma = c.omega_m * h * (alpha + (1 - alpha) / (1 + std::pow(0.43 * k * h * horizon, 4)));
  const double q = k * std::pow(2.7255 / 2.7, 2) / gamma;
  const double l = std::log(2 * std::numbers::e + 1.8 * q), c0 = 14.2 + 731 / (1 + 62.5 * q);
  return l / (l + c0 * q * q);
}

TEST(Transfer, tends_to_one_on_large_scales) {
  const TransferFunction transfer(Cosmology{});
  EXPECT_NEAR(transfer(1e-5), 1.0, 1e-3);
  EXPECT_NEAR(transfer(1e-7), 1.0, 1e-5);
}

TEST(Transfer, sound_horizon_agrees_with_the_fit) {
  const Cosmology c{};
  const double h = c.h0 / 100, matter = c.omega_m * h * h, baryons = c.omega_b * h * h;
  const double fit = 44.5 * std::log(9.83 / matter) / std::sqrt(1 + 10 * std::pow(baryons, 0.75)) * h;
  EXPECT_NEAR(TransferFunction(c).sound_horizon() / fit, 1.0, 0.02);
}

TEST(Transfer, follows_the_smooth_fit_everywhere) {
  for (const Cosmology& c : {Cosmology{}, Cosmology{.omega_m = 0.25, .h0 = 75}, Cosmology{.omega_m = 0.35, .h0 = 65}}) {
    const TransferFunction transfer(c);
    for (double k = 1e-4; k < 20; k *= 1.05) EXPECT_NEAR(transfer(k) / smooth_transfer(c, k), 1.0, 0.1) << "k = " << k;
  }
}

TEST(Transfer, wiggles_with_the_sound_horizon) {
  const Cosmology c{};
  const TransferFunction transfer(c);
  const auto ratio = [&](double k) { return transfer(k) / smooth_transfer(c, k); };
  std::vector<double> peaks;
  const double step = 5e-4;
  for (double k = 0.03; k < 0.3; k += step)
    if (ratio(k) > ratio(k - step) && ratio(k) > ratio(k + step)) peaks.push_back(k);
  ASSERT_GE(peaks.size(), 3u);
  const double period = 2 * std::numbers::pi / transfer.sound_horizon();
  for (std::size_t i = 1; i < peaks.size(); ++i) EXPECT_NEAR((peaks[i] - peaks[i - 1]) / period, 1.0, 0.15);

  // About a tenth of the power at first, damped (Silk) at larger k.
  EXPECT_NEAR(std::pow(ratio(0.076) / ratio(0.106), 2), 1.12, 0.03);
  EXPECT_NEAR(std::pow(ratio(0.2535) / ratio(0.2825), 2), 1.02, 0.01);

  const Cosmology few{.omega_b = 1e-4};
  const TransferFunction flat(few);
  for (double k = 0.03; k < 0.3; k *= 1.02) EXPECT_NEAR(flat(k) / smooth_transfer(few, k), 1.0, 0.03);
}

TEST(PowerSpectrum, has_the_asked_sigma_8) {
  for (double sigma_8 : {0.72, 0.8, 0.9}) {
    const PowerSpectrum spectrum({.omega_m = 0.27, .sigma_8 = sigma_8, .n_s = 1.0, .h0 = 66});
    // Another integration rule and variable: trapezoids in k.
    double variance = 0;
    const double step = 1e-4;
    for (double k = step; k < 30; k += step) {
      const double x = 8 * k, window = 3 * (std::sin(x) - x * std::cos(x)) / (x * x * x);
      variance += step * k * k * spectrum(k) * window * window / (2 * std::numbers::pi * std::numbers::pi);
    }
    EXPECT_NEAR(std::sqrt(variance), sigma_8, 1e-4 * sigma_8);
    EXPECT_NEAR(spectrum.sigma(8.0), sigma_8, 1e-9);
  }
}

TEST(PowerSpectrum, has_the_asked_slope_on_large_scales) {
  const PowerSpectrum spectrum({.n_s = 0.93});
  EXPECT_NEAR(std::log2(spectrum(2e-6) / spectrum(1e-6)), 0.93, 1e-3);
  EXPECT_EQ(spectrum(0.0), 0.0);
}

TEST(PowerSpectrum, ball_window_is_smooth_at_zero) {
  EXPECT_NEAR(ball_window(0.02 - 1e-9), ball_window(0.02 + 1e-9), 1e-8);
  EXPECT_EQ(ball_window(0.0), 1.0);
}

}  // namespace
}  // namespace isobar::worlds
