// Spherical harmonics: fields on a latitude-longitude grid from their coefficients. No point is special: a random field
// is as rough at the poles as at the equator. Y_lm = P_lm(sin latitude) exp(i m longitude) with mean |Y_lm|^2 of one
// over the sphere, so that the variance of a field is the sum of |c_lm|^2 over all l and all m of both signs.
#pragma once

#include <complex>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "isobar/worlds/sphere.hpp"

namespace isobar::worlds {

class RowTransform;

/// The coefficients c_lm of a real field, for 0 <= m <= l <= degree; those of negative m are their conjugates.
class Coefficients {
 public:
  explicit Coefficients(int degree) : degree_(degree), values_(begin(degree + 1)) {}

  int degree() const { return degree_; }
  std::complex<float>& operator()(int l, int m) { return values_[begin(m) + static_cast<std::size_t>(l - m)]; }
  const std::complex<float>& operator()(int l, int m) const {
    return values_[begin(m) + static_cast<std::size_t>(l - m)];
  }

 private:
  std::size_t begin(int m) const {
    return static_cast<std::size_t>(m) * static_cast<std::size_t>(degree_ + 1) -
           static_cast<std::size_t>(m) * static_cast<std::size_t>(m - 1) / 2;
  }

  int degree_;
  std::vector<std::complex<float>> values_;
};

/// Sums harmonics on one grid, with the same bits for any number of threads; several threads may use it at once.
class Harmonics {
 public:
  Harmonics(const SphereGrid& grid, int threads);
  ~Harmonics();

  /// Fills one plane for each set of coefficients; all have the same degree, below half the width and below the height.
  void synthesise(std::span<const Coefficients> fields, std::span<Plane> planes) const;

  /// The highest degree that a grid resolves smoothly: three points per wave along the equator, and at most 383.
  static int finest(const SphereGrid& grid);

 private:
  SphereGrid grid_;
  int threads_;
  std::unique_ptr<RowTransform> rows_;
};

}  // namespace isobar::worlds
