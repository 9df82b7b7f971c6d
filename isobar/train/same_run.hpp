// Whether all ranks are about to run the same thing: recipe, data, plan. A rank with another version of a file, another
// processor or another command line would otherwise add gradients that mean something else.
#pragma once

#include <vector>

#include "isobar/graph/plan.hpp"
#include "isobar/train/agreement.hpp"
#include "isobar/train/job.hpp"

namespace isobar::train {

/// The recipe, key by key, and the numbers of samples, in the order in which they are compared.
std::vector<Fact> facts_of(const Job& job);
/// The layers of a plan, which are the same on ranks with the same part of the network.
std::vector<Fact> facts_of(const graph::Plan& plan);

}  // namespace isobar::train
