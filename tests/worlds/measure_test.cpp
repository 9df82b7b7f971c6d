// Estimators on fields whose power is known exactly.
#include "tests/worlds/measure.hpp"

#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "isobar/base/error.hpp"
#include "isobar/worlds/spectrum.hpp"

namespace isobar::worlds {
namespace {

constexpr int measure_size = 16;
constexpr double measure_box = 50;

// a cos(2 pi n z / box) along the chosen axis: |f_k|^2 = a^2 / 4 in the modes +n and -n.
Mesh wave(int n, double a, int axis) {
  Mesh mesh(measure_size);
  for (int x = 0; x < measure_size; ++x)
    for (int y = 0; y < measure_size; ++y)
      for (int z = 0; z < measure_size; ++z) {
        const int at[] = {x, y, z};
        mesh.row(x, y)[z] = static_cast<float>(a * std::cos(2 * std::numbers::pi * n * at[axis] / measure_size));
      }
  Fourier(measure_size, 1).to_modes(mesh);
  return mesh;
}

TEST(Measure, a_wave_shows_in_its_shell_only_whatever_its_direction) {
  for (int axis = 0; axis < 3; ++axis) {
    const auto shells = measure_power(wave(3, 0.6, axis), measure_box);
    ASSERT_EQ(shells.size(), 7u);
    for (std::size_t i = 0; i < shells.size(); ++i) {
      const double expected = i == 2 ? 0.6 * 0.6 / 4 * measure_box * measure_box * measure_box : 0.0;
      EXPECT_NEAR(shells[i].power * shells[i].modes, expected, 1e-3);
      EXPECT_NEAR(shells[i].k * measure_box / (2 * std::numbers::pi), static_cast<double>(i + 1), 0.3);
    }
    EXPECT_EQ(shells[0].modes, 9.0);  // half of the 18 wave vectors (1,0,0) and (1,1,0)
  }
}

TEST(Measure, sigma_is_the_filtered_waves_deviation) {
  for (int axis = 0; axis < 3; ++axis) {
    const Mesh mesh = wave(2, 0.6, axis);
    EXPECT_NEAR(measure_sigma(mesh, measure_box, 1e-6), 0.6 / std::sqrt(2.0), 1e-6);
    const double window = ball_window(2 * std::numbers::pi * 2 / measure_box * 5);
    EXPECT_NEAR(measure_sigma(mesh, measure_box, 5), 0.6 * window / std::sqrt(2.0), 1e-6);
  }
}

TEST(Measure, overdensity_is_relative_to_the_mean) {
  std::vector<float> volume(4 * 4 * 4 * 2, 7.0f);
  for (std::size_t i = 1; i < volume.size(); i += 2) volume[i] = 2.0f;
  volume[1] = 4.0f;
  volume[2 * 63 + 1] = 0.0f;
  const Mesh field = overdensity(volume, 4, 2, 1);
  EXPECT_FLOAT_EQ(field.row(0, 0)[0], 1.0f);
  EXPECT_FLOAT_EQ(field.row(3, 3)[3], -1.0f);
  EXPECT_FLOAT_EQ(field.row(1, 2)[3], 0.0f);
  EXPECT_THROW(overdensity(std::vector<float>(64, 0.0f), 4, 1, 0), Error);
}

}  // namespace
}  // namespace isobar::worlds
