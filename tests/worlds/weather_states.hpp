// States for the tests of labels: a calm atmosphere, into which the tests put cyclones and rivers.
#pragma once

#include <cmath>
#include <vector>

#include "isobar/worlds/channels.hpp"
#include "isobar/worlds/sphere.hpp"
#include "isobar/worlds/vortex.hpp"

namespace isobar::worlds {

/// No weather: moisture falls from 50 kg/m^2 at the equator to nothing at the poles, a breeze, no pressure minimum.
inline std::vector<float> calm_state(const SphereGrid& grid) {
  std::vector<float> state(grid.cells() * channel_count);
  for (std::size_t cell = 0; cell < grid.cells(); ++cell) {
    const double latitude = grid.latitude(static_cast<int>(cell) / grid.width), cosine = std::cos(latitude * degree);
    float* here = state.data() + cell * channel_count;
    here[TMQ] = static_cast<float>(50 * std::pow(cosine, 4));
    here[U850] = 8;
    here[V850] = latitude < 0 ? -3 : 3;
    here[PSL] = static_cast<float>(101300 - 500 * cosine);
    here[T200] = 218;
    here[T500] = static_cast<float>(240 + 27 * cosine);
  }
  return state;
}

/// Adds a tropical cyclone.
inline void plant(std::vector<float>& state, const SphereGrid& grid, const Storm& storm) {
  const Vortex vortex(storm, grid.row_step() * degree * earth_radius);
  for (std::size_t cell = 0; cell < grid.cells(); ++cell) {
    const VortexEffect effect = vortex.at(grid.latitude(static_cast<int>(cell) / grid.width),
                                          grid.longitude(static_cast<int>(cell) % grid.width));
    float* here = state.data() + cell * channel_count;
    here[PSL] += static_cast<float>(effect.pressure);
    here[U850] += static_cast<float>(effect.east);
    here[V850] += static_cast<float>(effect.north);
    here[T200] += static_cast<float>(effect.warm_200);
    here[T500] += static_cast<float>(effect.warm_500);
    here[TMQ] += static_cast<float>(effect.moisture);
  }
}

}  // namespace isobar::worlds
