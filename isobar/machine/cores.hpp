// The cores of a node, and how its ranks divide them. If the launcher has bound ranks to cores, that is respected;
// ranks that may all use the same cores get equal parts, so that they do not get in each other's way.
#pragma once

#include <string>
#include <vector>

namespace isobar::machine {

/// Core numbers, as the machine's topology counts them, in ascending order.
using Cores = std::vector<int>;

/// The cores this process may run on now.
Cores usable_cores();

/// How a rank computes and communicates.
struct Share {
  int threads = 1;           ///< to compute with
  Cores compute{};           ///< where these threads run; empty: not bound
  Cores communication{};     ///< where the communication thread runs; the same cores if there are too few for both
  bool by_launcher = false;  ///< the launcher gave ranks different cores

  bool bound() const { return !compute.empty(); }
  /// "1 thread each, bound to cores 0; communication shares them".
  std::string describe() const;
};

/// The share of `rank` among the ranks of a node, whose cores are given by rank. `threads` is what the user requested
/// (0: nothing); if there are many cores and `background` says that a thread communicates, one core is reserved for it.
Share divide_cores(const std::vector<Cores>& ranks, int rank, int threads, bool background);

/// Binds the calling thread, and those it starts from then on; false if the system refuses. Without cores it does
/// nothing.
bool bind_thread(const Cores& cores);

/// Binds all OpenMP threads of the calling thread, including itself.
bool bind_compute_threads(const Cores& cores);

/// "0-3, 6".
std::string ranges(const Cores& cores);

}  // namespace isobar::machine
