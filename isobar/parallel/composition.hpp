// Composition: which split, strategy and codec a recipe names, in its section [parallel], and which ranks it makes
// slower. Older recipes name the strategy at their top, which is still read.
#pragma once

#include "isobar/base/spec.hpp"

namespace isobar::parallel {

struct Composition {
  Spec split = "none";
  Spec strategy = "sync";  ///< with the codec among its arguments, if one is named
  std::string slow{};      ///< ranks made slower for an experiment, as read_slow_ranks() reads them
};

/// Reads them; `otherwise`: the strategy of a recipe that names none.
Composition read_composition(Args& recipe, const Spec& otherwise = "sync");

/// Notes them in the resolved recipe where it names them, with all defaults.
void record_composition(Args& recipe, const Composition& resolved);

}  // namespace isobar::parallel
