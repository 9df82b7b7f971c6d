// 2LPT for waves whose displacement is known analytically.
#include "isobar/worlds/lagrangian.hpp"

#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "isobar/worlds/field.hpp"

namespace isobar::worlds {
namespace {

constexpr int lagrangian_size = 32;
constexpr double lagrangian_box = 100;
constexpr double unit = 2 * std::numbers::pi / lagrangian_box;
using Wave = std::array<int, 3>;

double dot(const Wave& a, const Wave& b) { return unit * unit * (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]); }

double phase(const Wave& n, int x, int y, int z) {
  return 2 * std::numbers::pi * (n[0] * x + n[1] * y + n[2] * z) / lagrangian_size;
}

// Compares with f(axis, x, y, z) in every cell.
template <class F>
void expect_vector(const std::array<Mesh, 3>& field, F f, double tolerance) {
  double worst = 0;
  for (int axis = 0; axis < 3; ++axis)
    for (int x = 0; x < lagrangian_size; ++x)
      for (int y = 0; y < lagrangian_size; ++y)
        for (int z = 0; z < lagrangian_size; ++z)
          worst = std::max(worst, std::abs(field[axis].row(x, y)[z] - f(axis, x, y, z)));
  EXPECT_LT(worst, tolerance);
}

template <class F>
Displacement displaced(F density) {
  const Mesh delta(lagrangian_size);
  for (int x = 0; x < lagrangian_size; ++x)
    for (int y = 0; y < lagrangian_size; ++y)
      for (int z = 0; z < lagrangian_size; ++z) delta.row(x, y)[z] = static_cast<float>(density(x, y, z));
  const Fourier fourier(lagrangian_size, 1);
  fourier.to_modes(delta);
  Displacement out(lagrangian_size);
  displace(delta, lagrangian_box, fourier, out);
  return out;
}

TEST(Lagrangian, one_plane_wave_needs_no_second_order) {
  const Wave n{2, -3, 1};
  const double a = 0.7;
  const Displacement out = displaced([&](int x, int y, int z) { return a * std::cos(phase(n, x, y, z)); });
  // delta = a cos(kq), phi = -a cos(kq) / k^2, first = -grad phi = -a k sin(kq) / k^2.
  expect_vector(
      out.first,
      [&](int axis, int x, int y, int z) { return -a * unit * n[axis] / dot(n, n) * std::sin(phase(n, x, y, z)); },
      1e-4);
  expect_vector(
      out.second, [](int, int, int, int) { return 0.0; }, 1e-5);
}

TEST(Lagrangian, two_waves_beat_as_computed_by_hand) {
  const Wave p{3, 0, 1}, q{1, 2, -2};
  const double a = 0.7, b = -0.4;
  const Displacement out =
      displaced([&](int x, int y, int z) { return a * std::cos(phase(p, x, y, z)) + b * std::cos(phase(q, x, y, z)); });
  // The source is A cos(pq) cos(qq), A = a b (1 - (p.q)^2 / (p^2 q^2)): two waves, p + q and p - q, of A / 2 each.
  const double pp = dot(p, p), qq = dot(q, q), pq = dot(p, q), amplitude = a * b * (1 - pq * pq / (pp * qq)) / 2;
  const Wave sum{p[0] + q[0], p[1] + q[1], p[2] + q[2]}, difference{p[0] - q[0], p[1] - q[1], p[2] - q[2]};
  const auto expected = [&](int axis, int x, int y, int z) {
    const auto part = [&](const Wave& n) {
      return amplitude * unit * n[axis] / dot(n, n) * std::sin(phase(n, x, y, z));
    };
    return part(sum) + part(difference);
  };
  EXPECT_GT(std::abs(expected(0, 1, 2, 3)), 0.01);
  expect_vector(out.second, expected, 2e-5);
}

// Around the peak of three crossed waves, matter collapses as in a sphere: x = q (1 - d/3 - d^2/21 - ...).
TEST(Lagrangian, a_symmetric_peak_collapses_like_a_sphere) {
  const double a = 0.2, d = 3 * a;
  const Displacement out = displaced([&](int x, int y, int z) {
    return a * (std::cos(phase({1, 0, 0}, x, y, z)) + std::cos(phase({0, 1, 0}, x, y, z)) +
                std::cos(phase({0, 0, 1}, x, y, z)));
  });
  const double q = lagrangian_box / lagrangian_size;
  for (int axis = 0; axis < 3; ++axis) {
    const int x = axis == 0, y = axis == 1, z = axis == 2;
    EXPECT_NEAR(out.first[axis].row(x, y)[z] / q, -d / 3, 0.01 * d / 3);
    EXPECT_NEAR(-3.0 / 7 * out.second[axis].row(x, y)[z] / q, -d * d / 21, 0.01 * d * d / 21);
  }
}

TEST(Lagrangian, displacements_converge_on_matter) {
  const Mesh delta(lagrangian_size);
  draw_field(delta, PowerSpectrum(Cosmology{}), lagrangian_box, Random(11), 1);
  const Fourier fourier(lagrangian_size, 2);
  Displacement out(lagrangian_size);
  displace(delta, lagrangian_box, fourier, out);
  for (const Mesh& axis : out.first) fourier.to_modes(axis);
  // div first = -delta, mode by mode.
  delta.each_mode(1, [&](int nx, int ny, int nz, std::complex<float> mode) {
    const int x = (nx + lagrangian_size) % lagrangian_size, y = (ny + lagrangian_size) % lagrangian_size;
    const auto at = [&](int axis) { return std::complex<double>(out.first[axis].modes(x, y)[nz]); };
    const std::complex<double> i(0, unit);
    const auto divergence = i * (double(nx) * at(0) + double(ny) * at(1) + double(nz) * at(2));
    EXPECT_NEAR(std::abs(divergence + std::complex<double>(mode)), 0, 1e-5);
  });
}

}  // namespace
}  // namespace isobar::worlds
