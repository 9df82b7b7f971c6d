// The linear matter power spectrum today: A k^n_s T(k)^2, with A such that fluctuations in spheres of 8 Mpc/h have
// standard deviation sigma_8.
#pragma once

#include "isobar/worlds/cosmology.hpp"
#include "isobar/worlds/transfer.hpp"

namespace isobar::worlds {

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
