// Our side of the contestants' protocol (contestant.hpp): training steps of a network on noise, alone or on many ranks.
// Rank 0 reads the questions and answers; the others do what it is told.
#pragma once

#include <cstdio>

#include "isobar/bench/training_step.hpp"

namespace isobar::bench {

/// What is served: steps of this network, exchanging with `company`.
struct Serving {
  Spec model;
  std::int64_t batch = 1;  ///< of every rank
  Spec optimizer = steady_optimizer;
  Company company{};
  /// Ranks start every row of steps together and are timed together, even when they exchange nothing.
  comm::Comm* world = nullptr;
};

/// Serves until the input ends. With many ranks the time of a step is that of the slowest rank over the whole row of
/// steps asked for, divided by their number. "exchange" is answered with four numbers since the last time it was asked:
/// seconds waited for sums, seconds during which a sum was under way, sums, bytes sent; all of rank 0. "profile N" is
/// answered with the kernels of N steps, as profile.hpp writes them.
void serve_steps(const Serving& what, std::FILE* in, std::FILE* out);

}  // namespace isobar::bench
