// Our side of the contestants' protocol (contestant.hpp): training steps of a network on noise, alone or on many ranks.
// Rank 0 reads the questions and answers them; the others follow it.
#pragma once

#include <cstdio>

#include "isobar/bench/training_step.hpp"

namespace isobar::bench {

/// What to serve: steps of this network, exchanging with `company`.
struct Serving {
  Spec model;
  std::int64_t batch = 1;  ///< per rank
  Spec optimizer = steady_optimizer;
  Company company{};
  /// Ranks start every series of steps together and are timed together, even if they exchange nothing.
  comm::Comm* world = nullptr;
};

/// Serves until the input ends. With many ranks the time of a step is that of the slowest rank over the whole series of
/// requested steps, divided by their number. The answer to "exchange" is four numbers of rank 0 since the last such
/// question: seconds waited for sums, seconds during which a sum was in progress, sums, bytes sent; that to "messages"
/// the same of the messages of a model that is cut. The answer to "profile N" is the kernels of N steps, as
/// kernel_profile.hpp writes them.
void serve_steps(const Serving& what, std::FILE* in, std::FILE* out);

}  // namespace isobar::bench
