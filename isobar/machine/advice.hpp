// Advice: what would slow a run down on this machine, and what to do about it. A list of small checks of the facts; to
// add one, write a function and add it to the list.
#pragma once

#include <string>
#include <vector>

#include "isobar/machine/machine.hpp"
#include "isobar/tensor/engine.hpp"

namespace isobar::machine {

/// What the checks look at.
struct Facts {
  Machine machine;
  AmxState amx;
  bool optimised = true;  ///< whether the compiler optimised this build
};

/// One sentence per finding, the worst first; empty when all is well.
std::vector<std::string> advice(const Facts& facts);

}  // namespace isobar::machine
