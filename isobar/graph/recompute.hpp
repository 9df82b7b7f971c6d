// Recomputation (activation check-pointing): a plan that is too large drops what is cheap to make again after the
// forward pass and makes it again before backward reads it. Same kernels on the same numbers: the same bits.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "isobar/graph/lower.hpp"
#include "isobar/graph/plan.hpp"

namespace isobar::graph {

/// Lays out a lowered plan within options.memory_limit; what is made again is chosen so that it costs little time.
/// Throws Error when no choice fits, saying how much is needed and by what.
Plan fit_memory(const Plan& lowered, const Wishes& wishes, const std::map<StepId, Repeat>& repeats,
                const PlanOptions& options);

/// What computing again costs, in parts of the plan without it.
struct AgainCost {
  double work = 0;  ///< floating-point operations
  double time = 0;  ///< estimated from operations and bytes moved
};
AgainCost again_cost(const Plan& plan);

/// What a plan needs, for people: "memory 19.2 GB (arena 18.9 GB, ...): fits into 20.0 GB; ..."; limit 0: there is
/// none.
std::string memory_text(const Plan& plan, std::size_t limit);

}  // namespace isobar::graph
