// What a run does when a step produces numbers that are not finite: section [train] of a recipe.
#pragma once

#include <cstdint>

#include "isobar/base/spec.hpp"

namespace isobar::train {

struct BadNumbers {
  enum class Policy {
    stop,    ///< the run ends and says where the numbers came from
    skip,    ///< the step is dropped, on all ranks
    rewind,  ///< the model goes back to the last good state, and the learning rate becomes smaller
  } policy = Policy::stop;
  std::int64_t skips_in_a_row = 10;  ///< this many end a run
  double rewind_rate = 0.5;          ///< what the learning rate is multiplied by
  std::int64_t rewinds = 10;         ///< at most
  std::int64_t rewind_every = 100;   ///< steps between states that are kept

  bool tries_again() const { return policy != Policy::stop; }
};

/// Reads bad_numbers, skips_in_a_row, rewind_rate, rewinds and rewind_every.
BadNumbers read_bad_numbers(Args& train);

}  // namespace isobar::train
