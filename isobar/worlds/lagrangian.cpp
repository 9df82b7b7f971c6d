#include "isobar/worlds/lagrangian.hpp"

#include <cmath>
#include <numbers>

namespace isobar::worlds {
namespace {

using Mode = std::complex<float>;

// out = f(n, 1 / |n|^2, mode of in) for all modes that have a gradient, 0 for the others.
template <class F>
void map_modes(const Mesh& in, const Mesh& out, int threads, F f) {
  const int size = in.size(), nyquist = size / 2;
  each_part(size, threads, [&](int x) {
    for (int y = 0; y < size; ++y) {
      const Mode* from = in.modes(x, y);
      Mode* to = out.modes(x, y);
      const int nx = in.wave(x), ny = in.wave(y);
      for (int nz = 0; nz <= nyquist; ++nz) {
        const int n2 = nx * nx + ny * ny + nz * nz;
        const bool smooth = n2 > 0 && nx != nyquist && ny != nyquist && nz != nyquist;
        const float n[] = {static_cast<float>(nx), static_cast<float>(ny), static_cast<float>(nz)};
        to[nz] = smooth ? f(n, 1.0f / static_cast<float>(n2), from[nz]) : Mode(0);
      }
    }
  });
}

// out, in space = scale * d/dr_axis inverse_laplacian(source).
void gradient(const Mesh& source, int axis, double scale, const Fourier& fourier, const Mesh& out) {
  const float factor = static_cast<float>(scale);
  map_modes(source, out, fourier.threads(), [=](const float* n, float inverse, Mode mode) {
    const float w = factor * n[axis] * inverse;
    return Mode(w * mode.imag(), -w * mode.real());  // times -i
  });
  fourier.to_space(out);
}

// out, in space = d2/dr_i dr_j inverse_laplacian(source).
void curvature(const Mesh& source, int i, int j, const Fourier& fourier, const Mesh& out) {
  map_modes(source, out, fourier.threads(),
            [=](const float* n, float inverse, Mode mode) { return n[i] * n[j] * inverse * mode; });
  fourier.to_space(out);
}

// f(z, source row, other rows...) for every row in space.
template <class F, class... Meshes>
void each_row(int threads, F f, const Mesh& first, const Meshes&... others) {
  each_part(first.size(), threads, [&](int x) {
    for (int y = 0; y < first.size(); ++y) f(first.row(x, y), others.row(x, y)...);
  });
}

}  // namespace

void displace(const Mesh& delta, double box, const Fourier& fourier, Displacement& out) {
  const int size = delta.size(), threads = fourier.threads();
  const double length = box / (2.0 * std::numbers::pi);

  // The memory of the results first holds the curvatures: seven meshes are enough.
  const Mesh &source = out.first[0], &mixed = out.first[1], &xx = out.second[0], &yy = out.second[1],
             &zz = out.second[2];
  for (int axis = 0; axis < 3; ++axis) curvature(delta, axis, axis, fourier, out.second[axis]);
  each_row(
      threads,
      [size](float* s, const float* a, const float* b, const float* c) {
        for (int z = 0; z < size; ++z) s[z] = a[z] * b[z] + a[z] * c[z] + b[z] * c[z];
      },
      source, xx, yy, zz);
  for (const auto& [i, j] : {std::pair{0, 1}, std::pair{0, 2}, std::pair{1, 2}}) {
    curvature(delta, i, j, fourier, mixed);
    each_row(
        threads,
        [size](float* s, const float* m) {
          for (int z = 0; z < size; ++z) s[z] -= m[z] * m[z];
        },
        source, mixed);
  }

  fourier.to_modes(source);
  for (int axis = 0; axis < 3; ++axis) gradient(source, axis, length, fourier, out.second[axis]);
  for (int axis = 0; axis < 3; ++axis) gradient(delta, axis, -length, fourier, out.first[axis]);
}

}  // namespace isobar::worlds
