// Measures fields as a survey would: power in shells of wave number, and fluctuations in balls.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>
#include <vector>

#include "isobar/base/error.hpp"
#include "isobar/worlds/mesh.hpp"
#include "isobar/worlds/spectrum.hpp"

namespace isobar::worlds {

/// Power in one shell; its relative sampling error for a Gaussian field is 1 / sqrt(modes).
struct Shell {
  double k = 0;      ///< mean wave number, h/Mpc
  double power = 0;  ///< mean power, (Mpc/h)^3
  double modes = 0;  ///< independent complex modes
};

// f(|n|, |mode|^2, independent modes it stands for): in the plane nz = 0 each mode is stored with its conjugate.
template <class F>
void each_power(const Mesh& field, F f) {
  field.each_mode(1, [&](int nx, int ny, int nz, const std::complex<float>& mode) {
    const double n = std::sqrt(static_cast<double>(nx * nx + ny * ny + nz * nz));
    f(n, std::norm(std::complex<double>(mode)), nz == 0 || nz == field.size() / 2 ? 0.5 : 1.0);
  });
}

/// Power of a field in modes, in shells one fundamental wave number wide: shell i covers (i + 0.5 ... i + 1.5) * 2 pi /
/// box, and the last ends below the Nyquist frequency.
inline std::vector<Shell> measure_power(const Mesh& field, double box) {
  const int shells = field.size() / 2 - 1;
  std::vector<Shell> found(shells);
  each_power(field, [&](double n, double power, double modes) {
    const int index = static_cast<int>(n + 0.5) - 1;
    if (index < 0 || index >= shells) return;
    Shell& shell = found[index];
    shell.k += modes * n;
    shell.power += modes * power;
    shell.modes += modes;
  });
  for (Shell& shell : found) {
    shell.k *= 2.0 * std::numbers::pi / box / shell.modes;
    shell.power *= box * box * box / shell.modes;
  }
  return found;
}

/// Standard deviation of a field in modes after averaging over balls; the radius is in the units of the box.
inline double measure_sigma(const Mesh& field, double box, double radius) {
  double variance = 0;
  each_power(field, [&](double n, double power, double modes) {
    if (n == 0) return;
    const double window = ball_window(2.0 * std::numbers::pi * n / box * radius);
    variance += 2.0 * modes * power * window * window;
  });
  return std::sqrt(variance);
}

/// One channel of a volume of counts as density relative to the mean, minus one, in real space.
inline Mesh overdensity(std::span<const float> volume, int size, int channels, int channel) {
  Mesh field(size);
  expects(channel >= 0 && channel < channels, "a channel of the volume");
  expects(std::int64_t(volume.size()) == field.cells() * channels, "a whole volume");
  double sum = 0;
  for (std::size_t i = channel; i < volume.size(); i += channels) sum += volume[i];
  if (!(sum > 0)) fail("overdensity: channel {} contains no matter", channel);
  const double inverse_mean = static_cast<double>(field.cells()) / sum;
  const float* from = volume.data() + channel;
  for (int x = 0; x < size; ++x)
    for (int y = 0; y < size; ++y) {
      float* row = field.row(x, y);
      for (int z = 0; z < size; ++z, from += channels) row[z] = static_cast<float>(*from * inverse_mean - 1.0);
    }
  return field;
}

}  // namespace isobar::worlds
