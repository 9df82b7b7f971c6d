// Gaussian random fields. The amplitude of a mode is a pure function of the generator and the wave vector, so a finer
// mesh over the same box has the same large-scale structure and adds smaller scales.
#pragma once

#include "isobar/base/random.hpp"
#include "isobar/worlds/mesh.hpp"
#include "isobar/worlds/spectrum.hpp"

namespace isobar::worlds {

/// Fills `mesh` with the modes of a real Gaussian field in a periodic box with edge `box` Mpc/h. The mean is zero, and
/// so are modes with a component at the mesh's Nyquist frequency, which have no well-defined gradient.
void draw_field(const Mesh& mesh, const PowerSpectrum& spectrum, double box, const Random& random, int threads = 0);

}  // namespace isobar::worlds
