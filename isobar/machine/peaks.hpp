// Peaks: what the machine really gives, measured in a moment: multiply-adds from registers, and memory streams. Every
// rate a run reaches is a part of one of the two.
#pragma once

namespace isobar::machine {

struct Peaks {
  double flops_per_second = 0;  ///< float multiply-adds with the instructions this program was compiled for
  double bytes_per_second = 0;  ///< of a = b + s c on arrays larger than the caches, three streams counted
  int threads = 1;
};

/// Measures both with all OpenMP threads, `seconds` each: the best of several tries, by the time that threads had a
/// core. `sharers` processes of this machine may measure at the same time, each with its part of cores, caches and
/// memory.
Peaks measure_peaks(double seconds = 0.25, int sharers = 1);

}  // namespace isobar::machine
