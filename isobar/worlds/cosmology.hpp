// Cosmology: the parameters of a flat universe of matter and a cosmological constant, and how structure grows in it.
// Lengths are in Mpc/h and wave numbers in h/Mpc throughout worlds/; h = H_0 / 100.
#pragma once

namespace isobar::worlds {

/// Density today, fluctuation amplitude in spheres of 8 Mpc/h, spectral index, Hubble constant in km/s/Mpc.
struct Cosmology {
  double omega_m = 0.3;
  double sigma_8 = 0.8;
  double n_s = 0.96;
  double h0 = 70.0;
  double omega_b = 0.045;  ///< the part of omega_m that consists of baryons
};

/// Throws UsageError unless 0 < omega_b < omega_m <= 1, sigma_8 > 0, h0 > 0 and n_s is finite.
void check(const Cosmology& cosmology);

/// Matter's share of the density at a redshift.
double matter_share(const Cosmology& cosmology, double redshift);

/// Linear growth factor D(z), with D(0) = 1.
double growth(const Cosmology& cosmology, double redshift);

/// Second-order growth factor D2(z) = -3/7 D^2 Omega_m(z)^(-1/143) (Bouchet et al. 1995).
double second_growth(const Cosmology& cosmology, double redshift);

}  // namespace isobar::worlds
