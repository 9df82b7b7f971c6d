// Measures fields as a survey would: power in shells of wave number, and fluctuations in balls.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isobar/worlds/mesh.hpp"

namespace isobar::worlds {

/// Power in one shell; its relative sampling error for a Gaussian field is 1 / sqrt(modes).
struct Shell {
  double k = 0;      ///< mean wave number, h/Mpc
  double power = 0;  ///< mean power, (Mpc/h)^3
  double modes = 0;  ///< independent complex modes
};

/// Power of a field in modes, in shells one fundamental wave number wide: shell i covers (i + 0.5 ... i + 1.5) * 2 pi /
/// box, and the last ends below the Nyquist frequency.
std::vector<Shell> measure_power(const Mesh& field, double box);

/// Standard deviation of a field in modes after averaging over balls; the radius is in the units of the box.
double measure_sigma(const Mesh& field, double box, double radius);

/// One channel of a volume of counts as density relative to the mean, minus one, in real space.
Mesh overdensity(std::span<const float> volume, int size, int channels, int channel);

}  // namespace isobar::worlds
