// Recomputation (activation checkpointing): a plan that needs too much memory drops results of the forward pass that
// are cheap to compute, and recomputes them before backward reads them. The same kernels on the same numbers give the
// same bits.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "isobar/graph/lower.hpp"
#include "isobar/graph/plan.hpp"

namespace isobar::graph {

/// Lays out a lowered plan within options.memory_limit; what is recomputed is chosen so that it costs little time.
/// Throws Error if no choice fits, saying how much memory is needed and for what.
Plan fit_memory(const Plan& lowered, const Wishes& wishes, const std::map<StepId, Repeat>& repeats,
                const PlanOptions& options);

/// The cost of recomputation, as a fraction of the plan without it.
struct AgainCost {
  double work = 0;  ///< floating-point operations
  double time = 0;  ///< estimated from operations and bytes moved
};
AgainCost again_cost(const Plan& plan);

/// The memory a plan needs, for display: "memory 19.2 GB (arena 18.9 GB, ...): fits into 20.0 GB; ..."; limit 0: no
/// limit.
std::string memory_text(const Plan& plan, std::size_t limit);

}  // namespace isobar::graph
