// The universe: dark-matter volumes computed from physics, like CosmoFlow's. Parameters -> linear spectrum -> Gaussian
// field -> 2LPT displacements -> particle counts at several redshifts. Number u of a family is a pure function of
// (options, u); neither threads nor earlier calls change it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "isobar/worlds/cosmology.hpp"
#include "isobar/worlds/deposit.hpp"
#include "isobar/worlds/mesh.hpp"

namespace isobar::worlds {

/// What all universes of a family share.
struct UniverseOptions {
  int mesh = 64;              ///< cells and particles along an edge: a power of two
  double cell = 4.0;          ///< edge of a cell, in Mpc/h at H_0 = 70
  bool scale_with_h0 = true;  ///< the edge in Mpc/h is multiplied by H_0 / 70, as in CosmoFlow; otherwise it is fixed
  std::vector<double> redshifts{0, 0.5, 1.5, 3};  ///< one channel each
  double spread = 0.1;                            ///< parameters lie within nominal * (1 +- spread)
  Counting counting = Counting::histogram;        ///< how particles become numbers
  std::uint64_t seed = 1;                         ///< names the family
  int threads = 0;                                ///< for one universe; 0: as many as OpenMP gives and the mesh can use
};

/// A reproducible family of universes; several threads may call make() at once.
class Universe {
 public:
  /// Throws UsageError for impossible options.
  explicit Universe(UniverseOptions options);

  /// Omega_m, sigma_8, n_s and H_0 of one universe, each uniform in [-1, 1].
  std::array<float, 4> targets(std::int64_t index) const;

  /// The same in physical units: nominal * (1 + target * spread), nominals 0.3, 0.8, 0.96 and 70.
  Cosmology cosmology(std::int64_t index) const;

  /// Edge of the periodic cube in Mpc/h.
  double box(std::int64_t index) const;

  /// Fills mesh^3 x channels particle counts, channels last; the mean is exactly one particle per cell.
  void make(std::int64_t index, std::span<float> volume) const;

  int channels() const { return std::ssize(options_.redshifts); }
  /// Numbers in a volume.
  std::int64_t count() const;
  const UniverseOptions& options() const { return options_; }

 private:
  UniverseOptions options_;
  Fourier fourier_;
};

}  // namespace isobar::worlds
