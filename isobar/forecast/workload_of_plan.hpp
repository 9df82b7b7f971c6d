// workload_of_plan: what a rank would compute, from a plan alone: nothing is run and no memory of the network is taken.
// The time of a kernel is its share of a roofline, the shares normalised so that a pass takes its work over the rate a
// rank sustains.
#pragma once

#include <cstdint>

#include "isobar/base/spec.hpp"
#include "isobar/graph/plan.hpp"
#include "isobar/sim/workload.hpp"

namespace isobar::forecast {

/// What a rank sustains, and how its weights are updated.
struct RankRate {
  double flops_per_second = 0;         ///< sustained in forward and backward passes
  double memory_bytes_per_second = 0;  ///< 0: updates take no time
  int optimizer_slots = 2;             ///< as Adam has
};

/// Of a training plan: forward and backward take flops / rate; `flops` in place of the plan's own count of a step, as
/// a paper counted them; 0: the plan's.
sim::Workload workload_of_plan(const graph::Plan& plan, const RankRate& rate, double flops = 0);

/// Of a network of the zoo, `batch` samples on a rank; `flops_per_sample` as above.
sim::Workload workload_of_model(const Spec& model, std::int64_t batch, const RankRate& rate,
                                double flops_per_sample = 0);

}  // namespace isobar::forecast
