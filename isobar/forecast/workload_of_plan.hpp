// workload_of_plan: what a rank would compute, from a plan alone: nothing runs and no memory for the network is
// allocated. Kernel times follow a roofline, normalised so that a pass takes its work divided by the rate that a rank
// sustains.
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
  int optimizer_slots = 2;             ///< as for Adam
};

/// The workload of a training plan: forward and backward take flops / rate. `flops` replaces the plan's own count per
/// step, for example with that of a paper; 0: the plan's count.
sim::Workload workload_of_plan(const graph::Plan& plan, const RankRate& rate, double flops = 0);

/// The workloads of the parts of a network of the zoo that is cut over ranks, with `batch` samples per replica; work
/// and `flops_per_sample` are shared out as the plans of the parts have it.
std::vector<sim::Workload> workloads_of_parts(const Spec& model, const Spec& split, std::int64_t batch,
                                              const RankRate& rate, double flops_per_sample = 0);

/// The workload of a network of the zoo with `batch` samples per rank; `flops_per_sample` replaces the plan's count
/// likewise.
sim::Workload workload_of_model(const Spec& model, std::int64_t batch, const RankRate& rate,
                                double flops_per_sample = 0);

}  // namespace isobar::forecast
