// The Fourier transform's convention, its inverse, and independence of threads.
#include "isobar/worlds/mesh.hpp"

#include <cmath>
#include <cstring>
#include <numbers>

#include <gtest/gtest.h>

#include "isobar/base/random.hpp"

namespace isobar::worlds {
namespace {

Mesh noise(int size) {
  Mesh mesh(size);
  for (int x = 0; x < size; ++x)
    for (int y = 0; y < size; ++y)
      for (int z = 0; z < size; ++z)
        mesh.row(x, y)[z] = static_cast<float>(Random(7).uniform(std::uint64_t((x * size + y) * size + z)));
  return mesh;
}

TEST(Fourier, finds_a_plane_wave_at_its_wave_vector) {
  const int size = 16;
  Mesh mesh(size);
  for (int x = 0; x < size; ++x)
    for (int y = 0; y < size; ++y)
      for (int z = 0; z < size; ++z)
        mesh.row(x, y)[z] =
            static_cast<float>(3.0 * std::cos(2 * std::numbers::pi * (2 * x - 3 * y + 5 * z) / size + 0.4));
  Fourier(size, 1).to_modes(mesh);
  mesh.each_mode(1, [](int nx, int ny, int nz, std::complex<float> mode) {
    const std::complex<float> expected = nx == 2 && ny == -3 && nz == 5 ? std::polar(1.5f, 0.4f) : 0.0f;
    EXPECT_NEAR(std::abs(mode - expected), 0, 1e-5) << nx << ' ' << ny << ' ' << nz;
  });
}

TEST(Fourier, there_and_back_changes_nothing) {
  for (int size : {4, 8, 32}) {
    const Mesh mesh = noise(size), copy = noise(size);
    const Fourier fourier(size, 1);
    fourier.to_modes(mesh);
    fourier.to_space(mesh);
    for (int x = 0; x < size; ++x)
      for (int y = 0; y < size; ++y)
        for (int z = 0; z < size; ++z) EXPECT_NEAR(mesh.row(x, y)[z], copy.row(x, y)[z], 1e-5);
  }
}

TEST(Fourier, threads_do_not_change_a_bit) {
  const int size = 32;
  const Mesh one = noise(size), three = noise(size);
  Fourier(size, 1).to_modes(one);
  Fourier(size, 3).to_modes(three);
  for (int x = 0; x < size; ++x)
    for (int y = 0; y < size; ++y)
      ASSERT_EQ(std::memcmp(one.modes(x, y), three.modes(x, y), (size / 2 + 1) * sizeof(std::complex<float>)), 0);
}

TEST(Mesh, other_sizes_are_a_mistake) {
  EXPECT_THROW(Mesh(12), std::logic_error);
  EXPECT_THROW(Mesh(2), std::logic_error);
  EXPECT_THROW(Fourier(8).to_modes(Mesh(16)), std::logic_error);
}

}  // namespace
}  // namespace isobar::worlds
