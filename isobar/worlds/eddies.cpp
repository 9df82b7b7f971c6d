#include "isobar/worlds/eddies.hpp"

#include <algorithm>
#include <cmath>

#include "isobar/base/error.hpp"
#include "isobar/worlds/mesh.hpp"

namespace isobar::worlds {
namespace {

constexpr int last_degree = 383;

// Energy of degree l, all orders together, up to a factor.
double energy(const EddyKind& kind, double l) {
  const double rise = 1 / (1 + std::pow(kind.peak / l, 4));
  if (kind.spectrum == EddyKind::scalar) return rise * std::pow(l, -2.0);
  constexpr double crossing = 80;  // waves of 500 km
  return rise * (std::pow(l / crossing, -3.0) + std::pow(l / crossing, -5.0 / 3));
}

}  // namespace

std::vector<float> eddy_deviations(const EddyKind& kind) {
  std::vector<double> each(last_degree + 1, 0.0);
  double total = 0;
  for (int l = 1; l <= last_degree; ++l) {
    const double e = energy(kind, l);
    total += e;
    // u^2 + v^2 of a streamfunction's harmonic is l (l + 1) / a^2; each of the 2 l + 1 orders has its share.
    const double scale =
        kind.spectrum == EddyKind::wind ? 2 * earth_radius * earth_radius / (double(l) * (l + 1)) : 1.0;
    each[l] = scale * e / (2 * l + 1);
  }
  std::vector<float> deviations;
  for (const double variance : each) deviations.push_back(static_cast<float>(std::sqrt(variance / total)));
  return deviations;
}

Coefficients Eddies::at(double hour, int top, int threads) const {
  expects(top <= last_degree, "a degree of at most 383");
  Coefficients result(top);
  each_part(top + 1, threads, [&](int m) {
    for (int l = std::max(m, 1); l <= top; ++l) {
      const auto number = static_cast<std::uint64_t>(l) * (last_degree + 1) + static_cast<std::uint64_t>(m);
      const Random random = random_.sub(number);
      const double life = std::max(12.0, kind_.lifetime * std::pow(std::max(1.0, l / kind_.peak), -2.0 / 3));
      // Every wave has its own offset, so that no hour is special.
      const double age = hour / life + random.uniform(~std::uint64_t{0});
      const double key = std::floor(age), part = age - key;
      const auto begin = random.normal_pair(static_cast<std::int64_t>(key));
      const auto end = random.normal_pair(static_cast<std::int64_t>(key) + 1);
      const double turn = std::numbers::pi / 2 * part * part * (3 - 2 * part), c = std::cos(turn), s = std::sin(turn);
      const double size = deviations_[l];
      const std::complex<double> value(c * begin[0] + s * end[0], c * begin[1] + s * end[1]);
      if (m == 0) {
        result(l, m) = static_cast<float>(size * value.real());
        continue;
      }
      const double speed = kind_.drift / earth_radius - 2 * earth_rotation / (double(l) * (l + 1));
      const double phase = -std::remainder(m * speed * hour * 3600, 2 * std::numbers::pi);
      result(l, m) = std::complex<float>(size * std::numbers::sqrt2 / 2 * value * std::polar(1.0, phase));
    }
  });
  return result;
}

}  // namespace isobar::worlds
