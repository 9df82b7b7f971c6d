#include "isobar/worlds/field.hpp"

#include <cmath>
#include <numbers>
#include <vector>

namespace isobar::worlds {
namespace {

// 21 bits for each component.
std::uint64_t address(int nx, int ny, int nz) {
  const auto part = [](int n) { return static_cast<std::uint64_t>(n) & 0x1FFFFF; };
  return part(nx) << 42 | part(ny) << 21 | part(nz);
}

}  // namespace

void draw_field(const Mesh& mesh, const PowerSpectrum& spectrum, double box, const Random& random, int threads) {
  const int nyquist = mesh.size() / 2;
  // <|f_k|^2> = P(k) / V, shared by real and imaginary part; |n|^2 is a whole number, so a table is exact.
  std::vector<float> deviation(3 * std::size_t(nyquist) * nyquist + 1);
  each_part(3 * nyquist, threads, [&](int part) {
    for (int i = 0; i < nyquist; ++i) {
      const std::size_t n2 = std::size_t(part) * nyquist + i;
      const double k = 2.0 * std::numbers::pi * std::sqrt(static_cast<double>(n2)) / box;
      deviation[n2] = static_cast<float>(std::sqrt(spectrum(k) / (2.0 * box * box * box)));
    }
  });

  mesh.each_mode(threads, [&](int nx, int ny, int nz, std::complex<float>& mode) {
    if (std::abs(nx) == nyquist || std::abs(ny) == nyquist || nz == nyquist) {
      mode = 0;
      return;
    }
    // In the plane nz = 0 a mode and its conjugate are both stored: one draw serves both.
    const bool conjugate = nz == 0 && (ny < 0 || (ny == 0 && nx < 0));
    const int sign = conjugate ? -1 : 1;
    const auto [a, b] = random.normal_pair(address(sign * nx, sign * ny, nz));
    const float size = deviation[std::size_t(nx * nx + ny * ny + nz * nz)];
    mode = {size * static_cast<float>(a), size * static_cast<float>(sign * b)};
  });
}

}  // namespace isobar::worlds
