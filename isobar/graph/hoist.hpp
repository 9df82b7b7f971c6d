// Hoisting: messages begin as early and are awaited as late as the steps allow, so that work lies between. The result
// is the same to the bit: only steps that do not depend on each other change places.
#pragma once

#include <map>

#include "isobar/graph/lower.hpp"
#include "isobar/graph/plan.hpp"

namespace isobar::graph {

/// Reorders the steps of a lowered plan, within its forward and its backward pass. Messages begin in the order in which
/// they did before, which is that of all ranks: so no two ranks wait for each other.
void hoist_messages(Plan& plan, std::map<StepId, Repeat>& repeats);

}  // namespace isobar::graph
