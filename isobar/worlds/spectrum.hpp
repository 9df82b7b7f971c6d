// The linear matter power spectrum today: A k^n_s T(k)^2, with A such that fluctuations in spheres of 8 Mpc/h have
// standard deviation sigma_8. T is the matter transfer function of Eisenstein & Hu 1998 (ApJ 496, 605): cold dark
// matter and baryons, with acoustic oscillations. Its names and equation numbers follow the paper, where wave numbers
// are in 1/Mpc.
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

/// Fourier transform of a ball of unit volume, at x = k * radius.
double ball_window(double x);

/// P(k) at redshift 0.
class PowerSpectrum {
 public:
  explicit PowerSpectrum(const Cosmology& cosmology);

  /// In (Mpc/h)^3, for k in h/Mpc; 0 at k = 0.
  double operator()(double k) const;

  /// Standard deviation of the linear density in balls; the radius is in Mpc/h.
  double sigma(double radius) const;

  const TransferFunction& transfer() const { return transfer_; }

 private:
  TransferFunction transfer_;
  double n_s_;
  double amplitude_ = 1.0;
};

}  // namespace isobar::worlds
