// Compares states with those of CAM5: the means and deviations of the ClimateNet points (1996-2009, 21,120 different
// rows, six patches of 4 x 5 points) at the same places and in the same months. The numbers are written here so that no
// data are needed.
#include <array>
#include <cmath>

#include <gtest/gtest.h>

#include "isobar/worlds/atmosphere.hpp"
#include "isobar/worlds/calendar.hpp"

namespace isobar::worlds {
namespace {

struct Patch {
  double latitude, longitude;
  std::array<double, 16> mean, deviation;  // in the order of the channels
};
constexpr Patch patches[] = {
    {-30.7,
     353.75,
     {20.7, 5.40, 0.31, 2.25, 0.02, 0.00895, 102110, 102110, 215.1, 258.7, 2.16e-8, 292.0, 290.4, 177.7, 12067, 63.73},
     {7.22, 7.39, 5.21, 6.15, 6.12, 0.00202, 580, 580, 3.07, 3.47, 9.67e-8, 1.83, 2.13, 46.9, 127, 0.559}},
    {-24.6,
     241.9,
     {27.5, -0.40, -0.61, -3.07, -0.26, 0.01185, 101950, 101950, 216.1, 262.9, 2.68e-8, 296.4, 295.0, 167.5, 12234,
      64.85},
     {8.14, 6.45, 4.31, 5.75, 4.90, 0.00213, 395, 395, 2.38, 2.26, 1.07e-7, 1.48, 1.87, 31.2, 67.5, 0.505}},
    {-20.9,
     229.7,
     {31.9, -2.43, -0.56, -5.13, 0.55, 0.01390, 101670, 101670, 216.5, 264.8, 2.85e-8, 298.5, 297.1, 144.8, 12302,
      65.40},
     {7.85, 5.52, 3.59, 4.89, 4.04, 0.00201, 263, 263, 1.67, 1.42, 8.0e-8, 1.15, 1.46, 22.1, 43.7, 0.411}},
    {13.1,
     253.1,
     {48.6, 0.17, 0.44, 1.17, -0.51, 0.01814, 100990, 100990, 218.2, 267.2, 1.21e-7, 301.8, 300.5, 89.2, 12390, 66.33},
     {8.59, 7.53, 3.99, 5.82, 4.56, 0.00149, 201, 201, 1.07, 0.833, 4.56e-7, 0.572, 0.778, 14.0, 29.8, 0.211}},
    {22.0,
     244.4,
     {33.1, -1.52, -0.86, -0.35, -4.27, 0.01357, 101150, 101150, 218.4, 266.8, 4.3e-9, 296.8, 295.2, 103.3, 12375,
      64.99},
     {12.7, 4.79, 4.88, 3.70, 4.24, 0.00266, 388, 388, 2.02, 2.08, 2.1e-8, 2.02, 2.39, 24.3, 75.5, 0.637}},
    {23.0,
     276.6,
     {42.6, -3.7, 0.89, -5.2, -0.93, 0.01797, 101360, 101360, 217.6, 266.0, 7.0e-8, 301.9, 300.5, 121.1, 12377, 66.32},
     {9.6, 4.9, 4.3, 4.5, 3.8, 0.0026, 360, 360, 1.67, 1.88, 3.9e-7, 1.55, 2.07, 26.5, 72, 0.57}}};
constexpr int samples_by_month[] = {4, 7, 5, 4, 1, 30, 29, 33, 23, 27, 6, 7};

TEST(AtmosphereCalibration, agrees_with_the_climatenet_points) {
  const Atmosphere atmosphere({.height = 193, .width = 288, .threads = 1});
  const SphereGrid& grid = atmosphere.grid();
  constexpr std::size_t places = std::size(patches);
  std::array<std::array<double, 16>, places> sum{}, squares{};
  std::vector<float> state(atmosphere.count());
  double count = 0;
  for (int month = 1; month <= 12; ++month)
    for (int i = 0; i < samples_by_month[month - 1]; i += 4, ++count) {
      atmosphere.make(hour_of(WorldDate{1996 + i % 14, month, 1 + (i * 7) % 28, (i * 3) % 24}), state);
      for (std::size_t p = 0; p < places; ++p) {
        const auto row = static_cast<std::size_t>(std::lround(grid.row_of(patches[p].latitude)));
        const auto column = static_cast<std::size_t>(std::lround(grid.column_of(patches[p].longitude)));
        const float* here = state.data() + (row * static_cast<std::size_t>(grid.width) + column) * channel_count;
        for (std::size_t c = 0; c < 16; ++c) sum[p][c] += here[c], squares[p][c] += double{here[c]} * here[c];
      }
    }

  int near_means = 0, near_deviations = 0;
  for (std::size_t c = 0; c < 16; ++c) {
    // All places together: the mean, and the deviation within and between them.
    double mean = 0, square = 0, true_mean = 0, true_square = 0;
    for (std::size_t p = 0; p < places; ++p) {
      const double m = sum[p][c] / count, d = std::sqrt(std::max(0.0, squares[p][c] / count - m * m));
      const double expected = patches[p].mean[c], spread = patches[p].deviation[c];
      near_means += std::abs(m - expected) < 0.5 * spread;
      near_deviations += d > spread / 1.6 && d < spread * 1.6;
      EXPECT_LT(std::abs(m - expected), (c == PRECT ? 3.5 : 1.5) * spread)
          << channels[c].name << " at " << patches[p].latitude;
      mean += m / places, square += (m * m + d * d) / places;
      true_mean += expected / places, true_square += (expected * expected + spread * spread) / places;
    }
    const double deviation = std::sqrt(square - mean * mean), truth = std::sqrt(true_square - true_mean * true_mean);
    EXPECT_LT(std::abs(mean - true_mean), 0.25 * truth) << channels[c].name;
    // Cells of this size show less extreme rain than those of 25 km.
    EXPECT_GT(deviation, truth / (c == PRECT ? 2.5 : 1.6)) << channels[c].name;
    EXPECT_LT(deviation, truth * 1.6) << channels[c].name;
  }
  // Place by place, 96 numbers each.
  EXPECT_GE(near_means, 65);
  EXPECT_GE(near_deviations, 65);
}

}  // namespace
}  // namespace isobar::worlds
