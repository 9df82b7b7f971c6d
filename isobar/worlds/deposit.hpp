// Particles into cells: every particle goes from its cell's centre to its displaced place and is counted there.
// Each thread owns a slab of the volume and meets the particles in the same order, so any number of threads gives the
// same bits.
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
