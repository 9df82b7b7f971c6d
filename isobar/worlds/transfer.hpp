// The matter transfer function of Eisenstein & Hu 1998 (ApJ 496, 605): cold dark matter and baryons, with acoustic
// oscillations. Names and equation numbers follow the paper, where wave numbers are in 1/Mpc.
#pragma once

#include "isobar/worlds/cosmology.hpp"

namespace isobar::worlds {

/// T(k), which tends to 1 at small k; a few per cent accurate for ordinary cosmologies.
class TransferFunction {
 public:
  explicit TransferFunction(const Cosmology& cosmology);

  /// k in h/Mpc, positive.
  double operator()(double k) const;

  /// Comoving distance that sound travelled until the baryons decoupled, in Mpc/h.
  double sound_horizon() const { return sound_horizon_ * h_; }

 private:
  double h_, baryon_part_, k_equality_, sound_horizon_, k_silk_;
  double alpha_c_, beta_c_, alpha_b_, beta_b_, beta_node_;
};

}  // namespace isobar::worlds
