// Second-order Lagrangian perturbation theory (2LPT): where particles go from a uniform start q.
//   x(z) = q + D(z) first(q) + D2(z) second(q),   first = -grad inverse_laplacian(delta),
//   second = grad inverse_laplacian(sum over i < j of phi_ii phi_jj - phi_ij^2),  phi = inverse_laplacian(delta).
// D2 is negative; see second_growth().
#pragma once

#include <array>

#include "isobar/worlds/mesh.hpp"

namespace isobar::worlds {

/// Displacements along x, y, z of one particle per cell, in real space, in the units of the box.
struct Displacement {
  std::array<Mesh, 3> first, second;
  explicit Displacement(int size)
      : first{Mesh(size), Mesh(size), Mesh(size)}, second{Mesh(size), Mesh(size), Mesh(size)} {}
};

/// Computes the displacements for the linear density `delta`, which is in modes and is not changed, in a box with edge
/// `box`.
void displace(const Mesh& delta, double box, const Fourier& fourier, Displacement& out);

}  // namespace isobar::worlds
