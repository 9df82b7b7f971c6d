// The cores of a node, and how its ranks divide them. A launcher that has bound ranks is respected; ranks that may all
// use the same cores get equal parts, so that they do not stand in each other's way.
#pragma once

#include <string>
#include <vector>

namespace isobar::machine {

/// Numbers of cores, as the machine's topology counts them, rising.
using Cores = std::vector<int>;

/// The cores this process may run on now.
Cores usable_cores();

/// How a rank computes and communicates.
struct Share {
  int threads = 1;           ///< to compute with
  Cores compute{};           ///< where these run; empty: not bound
  Cores communication{};     ///< where a thread that communicates runs; the same when there are too few for both
  bool by_launcher = false;  ///< the launcher had given ranks different cores

  bool bound() const { return !compute.empty(); }
  /// "1 thread each, bound to cores 0; communication shares them".
  std::string describe() const;
};

/// The share of one of the ranks of a node, whose cores are given by rank. `threads` is what the user asked for, 0:
/// nothing; a core is kept free for communication where there are many and `background` says that a thread does it.
Share divide_cores(const std::vector<Cores>& ranks, int rank, int threads, bool background);

/// Binds the calling thread, and those it starts from then on; false where the system refuses. No cores: nothing is
/// done.
bool bind_thread(const Cores& cores);

/// Binds the threads that OpenMP gives the calling thread, as many as it was set to use, this one among them.
bool bind_compute_threads(const Cores& cores);

/// "0-3, 6".
std::string ranges(const Cores& cores);

}  // namespace isobar::machine
