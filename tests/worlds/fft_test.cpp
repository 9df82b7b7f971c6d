// Compares the library for Fourier transforms with their definition, summed in double, so that all libraries agree.
#include "isobar/worlds/fft.hpp"

#include <cmath>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

#include "isobar/base/random.hpp"

namespace isobar::worlds {
namespace {

using Wide = std::complex<double>;

Wide turn(int part, int of, int sign) { return std::polar(1.0, sign * 2 * std::numbers::pi * (part % of) / of); }

TEST(FftLibrary, HasAName) {
  EXPECT_FALSE(fft_library().first.empty());
  EXPECT_FALSE(fft_library().second.empty());
}

class Cubes : public testing::TestWithParam<int> {
 protected:
  int n = GetParam(), pitch = n / 2 + 2;
  std::vector<std::complex<float>> memory = std::vector<std::complex<float>>(static_cast<std::size_t>(n * n * pitch));
  std::complex<float>* row(int x, int y) { return memory.data() + (x * n + y) * pitch; }
  float* numbers(int x, int y) { return reinterpret_cast<float*>(row(x, y)); }
  void fill() {
    for (int x = 0; x < n; ++x)
      for (int y = 0; y < n; ++y)
        for (int z = 0; z < n; ++z)
          numbers(x, y)[z] = static_cast<float>(Random(3).uniform(std::uint64_t((x * n + y) * n + z)) - 0.5);
  }
};

TEST_P(Cubes, PlanesAndLinesAreSumsOverAllNumbers) {
  fill();
  std::vector<double> before;
  for (int x = 0; x < n; ++x)
    for (int y = 0; y < n; ++y) before.insert(before.end(), numbers(x, y), numbers(x, y) + n);
  const CubeTransforms transforms(n, pitch);
  for (int x = 0; x < n; ++x) transforms.plane_to_modes(numbers(x, 0));
  for (int y = 0; y < n; ++y) transforms.lines_to_modes(row(0, y));
  for (const auto [kx, ky, kz] : {std::array{0, 0, 0},
                                  {1, 0, 0},
                                  {0, 1, 0},
                                  {0, 0, 1},
                                  {n / 2, n / 2, n / 2},
                                  {n - 1, 2, n / 2},
                                  {3, n - 2, 1},
                                  {2, 1, n / 2 - 1}}) {
    Wide sum = 0;
    for (int x = 0; x < n; ++x)
      for (int y = 0; y < n; ++y)
        for (int z = 0; z < n; ++z)
          sum += before[static_cast<std::size_t>((x * n + y) * n + z)] * turn(kx * x + ky * y + kz * z, n, -1);
    EXPECT_NEAR(std::abs(Wide(row(kx, ky)[kz]) - sum), 0, 1e-6 * n * std::sqrt(n)) << kx << ' ' << ky << ' ' << kz;
  }
  for (int y = 0; y < n; ++y) transforms.lines_to_space(row(0, y));
  for (int x = 0; x < n; ++x) transforms.plane_to_space(numbers(x, 0));
  for (int x = 0; x < n; ++x)
    for (int y = 0; y < n; ++y)
      for (int z = 0; z < n; ++z)
        ASSERT_NEAR(numbers(x, y)[z] / (n * n * n), before[static_cast<std::size_t>((x * n + y) * n + z)], 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Sizes, Cubes, testing::Values(4, 8, 32));

// Widths of weather grids: even, odd, prime.
TEST(RowTransform, IsTheSumOverModesOfBothSigns) {
  for (const int width : {6, 8, 15, 96, 144, 13, 97}) {
    std::vector<std::complex<float>> modes(static_cast<std::size_t>(width / 2 + 1));
    for (std::size_t k = 0; k < modes.size(); ++k)
      modes[k] = {static_cast<float>(Random(5).uniform(2 * k)), static_cast<float>(Random(5).uniform(2 * k + 1))};
    modes[0] = modes[0].real();
    if (width % 2 == 0) modes.back() = modes.back().real();
    const auto before = modes;
    std::vector<float> row(static_cast<std::size_t>(width));
    RowTransform(width).to_space(modes.data(), row.data());
    for (int x = 0; x < width; ++x) {
      double sum = before[0].real();
      for (int k = 1; 2 * k <= width; ++k) {
        const Wide one = Wide(before[static_cast<std::size_t>(k)]) * turn(k * x, width, +1);
        sum += 2 * k == width ? one.real() : 2 * one.real();
      }
      ASSERT_NEAR(row[static_cast<std::size_t>(x)], sum, 2e-6 * width) << x << " of " << width;
    }
  }
}

}  // namespace
}  // namespace isobar::worlds
