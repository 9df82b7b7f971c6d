// Legendre functions by the recurrence in l at fixed m (Holmes and Featherstone 2002), for 16 rows at a time and for
// north and south at once: P_lm(-x) = (-1)^(l-m) P_lm(x). Below degree 800 doubles do not underflow where it matters.
#include "isobar/worlds/harmonics.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "isobar/base/error.hpp"
#include "isobar/worlds/fft.hpp"
#include "isobar/worlds/mesh.hpp"

namespace isobar::worlds {
namespace {

constexpr int lanes = 16;
using Lanes = std::array<double, lanes>;

// The sums over l of one field at one m: of even and of odd l - m, real and imaginary.
struct Sums {
  Lanes real[2], imaginary[2];
};

inline void add(Sums& sums, int parity, std::complex<float> c, const Lanes& p) {
  const double re = c.real(), im = c.imag();
  for (int i = 0; i < lanes; ++i) sums.real[parity][i] += re * p[i];
  for (int i = 0; i < lanes; ++i) sums.imaginary[parity][i] += im * p[i];
}

}  // namespace

Harmonics::Harmonics(const SphereGrid& grid, int threads)
    : grid_(grid), threads_(threads), rows_(std::make_unique<RowTransform>(grid.width)) {}
Harmonics::~Harmonics() = default;

int Harmonics::finest(const SphereGrid& grid) { return std::min({383, grid.height / 2, grid.width / 3}); }

void Harmonics::synthesise(std::span<const Coefficients> fields, std::span<Plane> planes) const {
  expects(!fields.empty() && fields.size() == planes.size(), "a plane for every field");
  const int top = fields[0].degree(), half = (grid_.height + 1) / 2;
  expects(top < grid_.height && 2 * top < grid_.width, "a degree the grid can show");
  for (const Coefficients& field : fields) expects(field.degree() == top, "fields of one degree");
  for (Plane& plane : planes) plane.resize(grid_.cells());

  std::vector<double> sectoral(top + 1, 1.0);
  for (int m = 1; m <= top; ++m) sectoral[m] = std::sqrt((2.0 * m + 1) / (2.0 * m));

  const std::size_t pitch = (grid_.width / 2 + 1 + 7) / 8 * 8;
  each_part((half + lanes - 1) / lanes, threads_, [&](int part) {
    Lanes x, cosine, diagonal;
    diagonal.fill(1.0);
    double widest = 0;
    for (int i = 0; i < lanes; ++i) {
      const int row = std::max(half - 1 - part * lanes - i, 0);  // northern rows mirror these southern ones
      x[i] = std::sin(grid_.latitude(row) * degree);
      cosine[i] = row == 0 ? 0.0 : std::cos(grid_.latitude(row) * degree);
      widest = std::max(widest, cosine[i]);
    }
    std::vector<Sums> sums(fields.size());
    std::vector<std::complex<float>> modes(fields.size() * 2 * lanes * pitch);
    const auto row_modes = [&](std::size_t field, int side, int lane) {
      return modes.data() +
             ((field * 2 + static_cast<std::size_t>(side)) * lanes + static_cast<std::size_t>(lane)) * pitch;
    };
    for (int m = 0; m <= top; ++m) {
      if (m > 0)
        for (int i = 0; i < lanes; ++i) diagonal[i] *= sectoral[m] * cosine[i];
      // Beyond this order, harmonics at these latitudes are below 1e-9.
      if (m > top * widest + 12 + 3 * std::cbrt(static_cast<double>(top))) break;
      for (Sums& s : sums) s = {};
      Lanes before{}, now = diagonal;
      double b = 0;
      for (int l = m; l <= top; ++l) {
        if (l > m) {
          const double l2 = static_cast<double>(l) * l, m2 = static_cast<double>(m) * m;
          const double a = std::sqrt((4 * l2 - 1) / (l2 - m2));
          for (int i = 0; i < lanes; ++i) {
            const double next = a * (x[i] * now[i] - b * before[i]);
            before[i] = now[i];
            now[i] = next;
          }
          b = 1 / a;
        }
        for (std::size_t f = 0; f < fields.size(); ++f) add(sums[f], (l - m) & 1, fields[f](l, m), now);
      }
      for (std::size_t f = 0; f < fields.size(); ++f)
        for (int i = 0; i < lanes; ++i) {
          const Sums& s = sums[f];
          row_modes(f, 0, i)[m] = {static_cast<float>(s.real[0][i] + s.real[1][i]),
                                   static_cast<float>(s.imaginary[0][i] + s.imaginary[1][i])};
          row_modes(f, 1, i)[m] = {static_cast<float>(s.real[0][i] - s.real[1][i]),
                                   static_cast<float>(s.imaginary[0][i] - s.imaginary[1][i])};
        }
    }
    for (std::size_t f = 0; f < fields.size(); ++f)
      for (int i = 0; i < lanes; ++i) {
        const int row = half - 1 - part * lanes - i;
        if (row < 0) break;
        for (int side = 0; side < 2; ++side) {
          const int target = side == 0 ? row : grid_.height - 1 - row;
          if (side == 1 && target == row) continue;
          rows_->to_space(row_modes(f, side, i), planes[f].data() + grid_.cell(target, 0));
        }
      }
  });
}

}  // namespace isobar::worlds
