// The Gaussian field has the requested spectrum, within the error that the number of modes allows.
#include "isobar/worlds/field.hpp"

#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "tests/worlds/measure.hpp"

namespace isobar::worlds {
namespace {

const Cosmology nominal{};

// A field whose every mode has exactly the expected power: what an average over many universes tends to.
Mesh expected_field(int size, const PowerSpectrum& spectrum, double box) {
  Mesh mesh(size);
  mesh.each_mode(1, [&](int nx, int ny, int nz, std::complex<float>& mode) {
    const bool kept = std::abs(nx) < size / 2 && std::abs(ny) < size / 2 && nz < size / 2;
    const double k = 2 * std::numbers::pi / box * std::sqrt(nx * nx + ny * ny + nz * nz);
    mode = kept ? static_cast<float>(std::sqrt(spectrum(k) / (box * box * box))) : 0.0f;
  });
  return mesh;
}

TEST(Field, power_follows_the_spectrum_in_every_shell) {
  const int size = 64, universes = 6;
  const double box = 512;
  const PowerSpectrum spectrum(nominal);
  const auto expected = measure_power(expected_field(size, spectrum, box), box);
  std::vector<double> power(expected.size(), 0.0);
  const Mesh mesh(size);
  for (int u = 0; u < universes; ++u) {
    draw_field(mesh, spectrum, box, Random(100 + u), 1);
    const auto shells = measure_power(mesh, box);
    for (std::size_t i = 0; i < shells.size(); ++i) power[i] += shells[i].power / universes;
  }
  double chi2 = 0;
  for (std::size_t i = 0; i < power.size(); ++i) {
    const double error = 1 / std::sqrt(expected[i].modes * universes);
    const double deviation = (power[i] / expected[i].power - 1) / error;
    EXPECT_LT(std::abs(deviation), 4.5) << "k = " << expected[i].k;
    EXPECT_NEAR(expected[i].power / spectrum(expected[i].k), 1, 0.1) << "k = " << expected[i].k;
    chi2 += deviation * deviation;
  }
  const double n = static_cast<double>(power.size());
  EXPECT_NEAR(chi2, n, 4.5 * std::sqrt(2 * n));
}

TEST(Field, sigma_8_is_the_cosmologys) {
  const int size = 64, universes = 8;
  const double box = 256, radius = 8;
  const PowerSpectrum spectrum(nominal);
  const Mesh ideal = expected_field(size, spectrum, box), mesh(size);
  const double expected = std::pow(measure_sigma(ideal, box, radius), 2);

  // A stored mode adds 2 |f_k|^2 W^2 to the variance, and |f_k|^2 scatters by as much as its mean.
  double error2 = 0;
  ideal.each_mode(1, [&](int nx, int ny, int nz, std::complex<float> mode) {
    const double k = 2 * std::numbers::pi / box * std::sqrt(nx * nx + ny * ny + nz * nz);
    const double part = 2 * std::norm(mode) * std::pow(ball_window(k * radius), 2);
    error2 += part * part * (nz == 0 ? 0.5 : 1.0);
  });
  double measured = 0;
  for (int u = 0; u < universes; ++u) {
    draw_field(mesh, spectrum, box, Random(200 + u), 1);
    measured += std::pow(measure_sigma(mesh, box, radius), 2) / universes;
  }
  EXPECT_NEAR(measured, expected, 4 * std::sqrt(error2 / universes));
  // Waves longer than the box are missing, which lowers the variance a little.
  EXPECT_LT(std::sqrt(expected), 0.8);
  EXPECT_GT(std::sqrt(expected), 0.95 * 0.8);
}

TEST(Field, variance_in_space_is_the_sum_of_the_power) {
  const int size = 32;
  const double box = 128;
  const Mesh mesh(size);
  draw_field(mesh, PowerSpectrum(nominal), box, Random(3), 1);
  const double sigma = measure_sigma(mesh, box, 1e-6);
  Fourier(size, 1).to_space(mesh);
  double sum = 0, squares = 0;
  for (int x = 0; x < size; ++x)
    for (int y = 0; y < size; ++y)
      for (int z = 0; z < size; ++z) sum += mesh.row(x, y)[z], squares += std::pow(mesh.row(x, y)[z], 2);
  const double cells = static_cast<double>(mesh.cells());
  EXPECT_NEAR(sum / cells, 0, 1e-5);
  EXPECT_NEAR(std::sqrt(squares / cells) / sigma, 1, 1e-4);
}

TEST(Field, a_finer_mesh_keeps_the_large_scales) {
  const PowerSpectrum spectrum(nominal);
  const Mesh coarse(16), fine(32);
  draw_field(coarse, spectrum, 200, Random(5), 1);
  draw_field(fine, spectrum, 200, Random(5), 1);
  int shared = 0;
  coarse.each_mode(1, [&](int nx, int ny, int nz, std::complex<float> mode) {
    if (std::abs(nx) == 8 || std::abs(ny) == 8 || nz == 8) return;
    EXPECT_EQ(mode, fine.modes((nx + 32) % 32, (ny + 32) % 32)[nz]);
    shared += std::abs(mode) > 0;
  });
  EXPECT_EQ(shared, 15 * 15 * 8 - 1);
}

TEST(Field, is_real_and_depends_on_generator_alone) {
  const PowerSpectrum spectrum(nominal);
  const Mesh one(16), two(16), other(16);
  draw_field(one, spectrum, 100, Random(5), 1);
  draw_field(two, spectrum, 100, Random(5), 2);
  draw_field(other, spectrum, 100, Random(6), 1);
  int differing = 0;
  one.each_mode(1, [&](int nx, int ny, int nz, std::complex<float> mode) {
    EXPECT_EQ(mode, two.modes((nx + 16) % 16, (ny + 16) % 16)[nz]);
    differing += mode != other.modes((nx + 16) % 16, (ny + 16) % 16)[nz];
    if (nz == 0) {
      EXPECT_EQ(mode, std::conj(one.modes((16 - nx) % 16, (16 - ny) % 16)[0]));
    }
  });
  EXPECT_EQ(differing, 15 * 15 * 8 - 1);
}

}  // namespace
}  // namespace isobar::worlds
