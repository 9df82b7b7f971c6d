// Peaks: what the machine really achieves, in a brief measurement: multiply-adds from registers, and memory streams.
// Every rate a run reaches is a fraction of one of the two.
#pragma once

namespace isobar::machine {

struct Peaks {
  double flops_per_second = 0;  ///< float multiply-adds with the instructions this program was compiled for
  double bytes_per_second = 0;  ///< of a = b + s c on arrays larger than the caches, three streams counted
  int threads = 1;
};

/// Measures both with all OpenMP threads, for `seconds` each: the best of several tries, by the processor time of the
/// threads. `sharers` processes of this machine may measure at the same time, each with its share of cores, caches and
/// memory.
Peaks measure_peaks(double seconds = 0.25, int sharers = 1);

}  // namespace isobar::machine
