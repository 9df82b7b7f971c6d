#include "isobar/forecast/workload_of_plan.hpp"

#include <algorithm>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"
#include "isobar/forecast/stretches.hpp"
#include "isobar/split/split.hpp"
#include "isobar/tensor/layout.hpp"
#include "isobar/zoo/network.hpp"

namespace isobar::forecast {
namespace {

// Operations per byte at peak rates, about that of a KNL (6 TF/s, 450 GB/s), a V100 (15.7 TF/s, 900 GB/s) and a Xeon
// with AVX-512. Only the ratio matters, because times are normalised.
constexpr double operations_per_byte = 14;

double share(const graph::PlanStep& step) {
  if (step.talk) return 0;
  return std::max(step.flops + step.again_flops, step.bytes * operations_per_byte);
}

// Targets are not inputs of the network.
bool is_target(const graph::PlanInput& input) { return input.name == "y"; }

double sample_bytes(const graph::Plan& plan) {
  double bytes = 0;
  for (const graph::PlanInput& input : plan.inputs)
    if (!is_target(input)) bytes += static_cast<double>(input.shape.count()) / input.shape[0];
  return bytes * sizeof(float);
}

}  // namespace

sim::Workload workload_of_plan(const graph::Plan& plan, const RankRate& rate, double flops) {
  if (!(rate.flops_per_second > 0)) fail_usage("workload: a rank that sustains {} FLOP/s", rate.flops_per_second);
  sim::Workload workload;
  workload.batch = plan.rows;
  workload.flops = flops > 0 ? flops : plan.flops();
  workload.sample_bytes = sample_bytes(plan);
  double shares = 0;
  for (const graph::PlanStep& step : plan.steps) shares += share(step);
  if (!(workload.flops > 0) || !(shares > 0)) fail("workload: the plan has no work to take time");
  const double seconds_per_share = workload.flops / rate.flops_per_second / shares;
  for (const graph::StepId s : plan.steps.ids())
    add_kernel(plan.is_forward(s) ? workload.forward : workload.backward, share(plan.steps[s]) * seconds_per_share,
               plain_numbers(plan.steps[s].final_parameters), plan.steps[s].talk);
  for (const graph::PlanParameter& p : plan.parameters) {
    const bool unused = p.layout.data.ndims == 0;
    const std::size_t count = gradient_room(unused ? p.declared.shape.count() : padded_count(p.layout));
    // The weight is read and written, the gradient read, each slot read and written.
    const double bytes = count * sizeof(float) * (3.0 + 2 * rate.optimizer_slots);
    const bool updated = p.declared.trained && rate.memory_bytes_per_second > 0;
    workload.parameters.push_back(
        {p.name, count, p.declared.trained, updated ? bytes / rate.memory_bytes_per_second : 0});
  }
  workload.optimizer_slots = rate.optimizer_slots;
  return workload;
}

sim::Workload workload_of_model(const Spec& model, std::int64_t batch, const RankRate& rate, double flops_per_sample) {
  return workloads_of_parts(model, "none", batch, rate, flops_per_sample)[0];
}

std::vector<sim::Workload> workloads_of_parts(const Spec& model, const Spec& split, std::int64_t batch,
                                              const RankRate& rate, double flops_per_sample) {
  if (batch < 1) fail_usage("workload of {}: a batch of {} samples on a rank; at least 1", model.str(), batch);
  const auto network = zoo::make_network(model);
  const auto cut = make(split::splits(), split, "split");
  std::vector<graph::Plan> plans;
  double flops = 0;
  for (int part = 0; part < cut->ways(); ++part) {
    plans.push_back(graph::make_plan(cut->cut(zoo::training_graph(*network, batch), part).graph));
    flops += plans.back().flops();
  }
  std::vector<sim::Workload> parts;
  for (const graph::Plan& plan : plans) {
    parts.push_back(workload_of_plan(plan, rate, flops_per_sample * batch * plan.flops() / flops));
    sim::Workload& part = parts.back();
    part.name = cut->ways() == 1 ? model.str() : fmt::format("{} cut by {}", model.str(), split.str());
    part.batch = batch;
    part.origin =
        fmt::format("plan of {}{}, batch {}, {} parameters, {} a step at {}/s", model.str(),
                    cut->ways() == 1 ? "" : fmt::format(", part {} of {}", parts.size(), cut->ways()), batch,
                    with_commas(plan.parameter_count()), human_flops(part.flops), human_flops(rate.flops_per_second));
  }
  return parts;
}

}  // namespace isobar::forecast
