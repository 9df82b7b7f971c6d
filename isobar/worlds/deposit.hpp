// Counts particles in cells: every particle moves from the centre of its cell to its displaced position and is counted
// there. Each thread owns a slab of the volume and processes the particles in the same order, so results have the same
// bits for any number of threads.
#pragma once

#include <span>

#include "isobar/worlds/lagrangian.hpp"

namespace isobar::worlds {

/// How a particle is counted.
enum class Counting {
  histogram,  ///< whole, in the cell that holds it
  cloud,      ///< as a cube the size of a cell, spread over the eight cells it touches (CIC)
};

/// Weights of the two displacements at one redshift: D and D2.
struct GrowthFactors {
  double first, second;
};

/// Overwrites `volume` with the counts at each redshift: size^3 x redshifts, channels last.
void deposit(const Displacement& displacement, double box, std::span<const GrowthFactors> factors, Counting counting,
             int threads, std::span<float> volume);

}  // namespace isobar::worlds
