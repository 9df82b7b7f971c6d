// Whole universes: reproducible, with conserved mass and linear growth; invalid options are rejected.
#include "isobar/worlds/universe.hpp"

#include <cmath>
#include <complex>
#include <numbers>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "isobar/base/error.hpp"
#include "isobar/worlds/spectrum.hpp"

#include "tests/worlds/measure.hpp"

namespace isobar::worlds {
namespace {

std::vector<float> made(const Universe& universe, std::int64_t index) {
  std::vector<float> volume(static_cast<std::size_t>(universe.count()));
  universe.make(index, volume);
  return volume;
}

TEST(Universe, every_channel_holds_every_particle) {
  const Universe universe({.mesh = 32});
  const auto volume = made(universe, 3);
  ASSERT_EQ(universe.channels(), 4);
  for (std::size_t channel = 0; channel < 4; ++channel) {
    std::int64_t particles = 0;
    for (std::size_t i = channel; i < volume.size(); i += 4) {
      ASSERT_EQ(volume[i], std::floor(volume[i]));
      particles += static_cast<std::int64_t>(volume[i]);
    }
    EXPECT_EQ(particles, 32 * 32 * 32);
  }
}

TEST(Universe, threads_order_and_company_do_not_change_a_bit) {
  for (Counting counting : {Counting::histogram, Counting::cloud}) {
    UniverseOptions options{.mesh = 32, .counting = counting, .threads = 1};
    const Universe one(options);
    const auto first = made(one, 0), second = made(one, 1);
    EXPECT_NE(first, second);

    options.threads = 3;
    const Universe three(options);
    EXPECT_EQ(made(three, 1), second);
    EXPECT_EQ(made(three, 0), first);

    std::vector<std::vector<float>> found(4);
    std::vector<std::thread> readers;
    for (std::size_t i = 0; i < found.size(); ++i)
      readers.emplace_back([&, i] { found[i] = made(Universe(one.options()), static_cast<std::int64_t>(i % 2)); });
    for (auto& reader : readers) reader.join();
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i], i % 2 ? second : first);
  }
}

TEST(Universe, the_seed_names_the_family) {
  const Universe a({.mesh = 16, .seed = 1}), b({.mesh = 16, .seed = 2});
  EXPECT_NE(a.targets(0), b.targets(0));
  EXPECT_NE(made(a, 0), made(b, 0));
}

TEST(Universe, targets_are_uniform_and_map_to_parameters) {
  const Universe universe({.mesh = 4, .cell = 2.0, .spread = 0.2});
  const int n = 3000;
  std::array<double, 4> sum{}, squares{};
  for (int u = 0; u < n; ++u) {
    const auto t = universe.targets(u);
    for (std::size_t i = 0; i < 4; ++i) {
      ASSERT_LE(std::abs(t[i]), 1.0f);
      sum[i] += t[i], squares[i] += t[i] * t[i];
    }
  }
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(sum[i] / n, 0, 4 / std::sqrt(3.0 * n));
    EXPECT_NEAR(squares[i] / n, 1.0 / 3, 4 * std::sqrt(4.0 / 45 / n));
  }
  const auto t = universe.targets(17);
  const Cosmology c = universe.cosmology(17);
  EXPECT_DOUBLE_EQ(c.omega_m, 0.3 * (1 + 0.2 * t[0]));
  EXPECT_DOUBLE_EQ(c.sigma_8, 0.8 * (1 + 0.2 * t[1]));
  EXPECT_DOUBLE_EQ(c.n_s, 0.96 * (1 + 0.2 * t[2]));
  EXPECT_DOUBLE_EQ(c.h0, 70 * (1 + 0.2 * t[3]));
  EXPECT_DOUBLE_EQ(c.omega_b, 0.045);
  EXPECT_DOUBLE_EQ(universe.box(17), 4 * 2.0 * c.h0 / 70);
  EXPECT_DOUBLE_EQ(Universe({.mesh = 4, .cell = 2.0, .scale_with_h0 = false}).box(17), 8.0);
}

TEST(Universe, cells_scale_with_the_hubble_constant_unless_told) {
  const Universe scaled({.mesh = 16}), fixed({.mesh = 16, .scale_with_h0 = false});
  const double cell = 4.0 * (scaled.cosmology(5).h0 / 70);
  EXPECT_EQ(made(scaled, 5), made(Universe({.mesh = 16, .cell = cell, .scale_with_h0 = false}), 5));
  EXPECT_NE(made(scaled, 5), made(fixed, 5));
}

// Large scales still grow linearly: same phases at all redshifts, so there is no sampling error in the ratio.
TEST(Universe, large_scales_grow_as_linear_theory_says) {
  const Universe universe({.mesh = 64, .cell = 8.0, .counting = Counting::cloud, .threads = 1});
  const Fourier fourier(64, 1);
  for (int u : {0, 1}) {
    const auto volume = made(universe, u);
    const double box = universe.box(u);
    std::vector<std::vector<Shell>> power;
    for (int channel = 0; channel < 4; ++channel) {
      const Mesh field = overdensity(volume, 64, 4, channel);
      fourier.to_modes(field);
      power.push_back(measure_power(field, box));
    }
    const PowerSpectrum linear(universe.cosmology(u));
    for (int channel = 0; channel < 4; ++channel) {
      const double d = growth(universe.cosmology(u), universe.options().redshifts[static_cast<std::size_t>(channel)]);
      double grown = 0, reference = 0, expected = 0, modes = 0;
      for (std::size_t shell = 0; shell < 4; ++shell) {
        const double weight = power[3][shell].modes;
        grown += weight * power[static_cast<std::size_t>(channel)][shell].power;
        reference += weight * power[3][shell].power;
        expected += weight * d * d * linear(power[3][shell].k);
        modes += weight;
      }
      const double d3 = growth(universe.cosmology(u), 3.0);
      EXPECT_NEAR(grown / reference / (d * d / (d3 * d3)), 1, 0.04) << "channel " << channel;
      EXPECT_NEAR(grown / expected, 1, 4 / std::sqrt(modes)) << "channel " << channel;
    }
  }
}

// Gravity makes a Gaussian field skew: <d^3> / <d^2>^2 = 34/7 + dln sigma^2 / dln R in balls of radius R (Bernardeau
// 1994). First order alone would be 6/7 lower.
TEST(Universe, second_order_gives_the_skewness_of_gravity) {
  const Universe universe(
      {.mesh = 64, .cell = 8.0, .redshifts = {0}, .counting = Counting::cloud, .seed = 4, .threads = 1});
  const Fourier fourier(64, 1);
  const double radius = 20;
  const int universes = 3;
  double excess = 0;
  for (int u = 0; u < universes; ++u) {
    const Mesh field = overdensity(made(universe, u), 64, 1, 0);
    fourier.to_modes(field);
    field.each_mode(1, [&](int nx, int ny, int nz, std::complex<float>& mode) {
      const double n = std::sqrt(nx * nx + ny * ny + nz * nz);
      mode *= static_cast<float>(ball_window(2 * std::numbers::pi * n / universe.box(u) * radius));
    });
    fourier.to_space(field);
    double squares = 0, cubes = 0;
    for (int x = 0; x < 64; ++x)
      for (int y = 0; y < 64; ++y)
        for (int z = 0; z < 64; ++z) {
          const double d = field.row(x, y)[z];
          squares += d * d, cubes += d * d * d;
        }
    const double cells = static_cast<double>(field.cells());
    const PowerSpectrum spectrum(universe.cosmology(u));
    const double slope = std::log(spectrum.sigma(radius * 1.05) / spectrum.sigma(radius / 1.05)) / std::log(1.05);
    excess += (cubes / cells / std::pow(squares / cells, 2) - (34.0 / 7 + slope)) / universes;
  }
  EXPECT_NEAR(excess, 0, 0.3);
}

TEST(Universe, nonsense_is_refused) {
  EXPECT_NO_THROW(Universe({.mesh = 8}));
  EXPECT_THROW(Universe({.mesh = 48}), UsageError);
  EXPECT_THROW(Universe({.mesh = 0}), UsageError);
  EXPECT_THROW(Universe({.mesh = -64}), UsageError);
  EXPECT_THROW(Universe({.mesh = 2}), UsageError);
  EXPECT_THROW(Universe({.cell = -4}), UsageError);
  EXPECT_THROW(Universe({.cell = 0}), UsageError);
  EXPECT_THROW(Universe({.cell = NAN}), UsageError);
  EXPECT_THROW(Universe({.cell = 1e9}), UsageError);
  EXPECT_THROW(Universe({.redshifts = {}}), UsageError);
  EXPECT_THROW(Universe({.redshifts = {0, -0.5}}), UsageError);
  EXPECT_THROW(Universe({.redshifts = {NAN}}), UsageError);
  for (double spread : {0.0, -0.1, 1.0, 1.5, double(NAN)}) EXPECT_THROW(Universe({.spread = spread}), UsageError);
  EXPECT_THROW(Universe({.threads = -1}), UsageError);
}

}  // namespace
}  // namespace isobar::worlds
