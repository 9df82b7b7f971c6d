#include "isobar/forecast/workload_of_run.hpp"

#include <charconv>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"
#include "isobar/forecast/stretches.hpp"
#include "isobar/forecast/traced_kernels.hpp"
#include "isobar/graph/plan.hpp"
#include "isobar/tensor/layout.hpp"
#include "isobar/zoo/network.hpp"

namespace isobar::forecast {
namespace {

namespace fs = std::filesystem;

// Bytes of a sample, from shapes such as "32x32x32x4".
double sample_bytes(const record::RunRecord& run) {
  double bytes = 0;
  for (const auto& [name, shape] : run.inputs) {
    if (name == "y") continue;
    double numbers = 1;
    for (std::size_t at = 0; at < shape.size();) {
      std::int64_t extent = 0;
      const auto end = std::from_chars(shape.data() + at, shape.data() + shape.size(), extent);
      if (end.ec != std::errc() || extent < 1)
        fail("{}: the input '{}' has the invalid shape '{}'", (run.folder / "run.json").string(), name, shape);
      numbers *= extent;
      at = end.ptr - shape.data() + 1;
    }
    bytes += numbers * sizeof(float);
  }
  return bytes;
}

// Samples that the recorded plan computes at a time.
std::int64_t rows_of(const record::RunRecord& run) {
  if (run.plan_rows > 0) return run.plan_rows;
  double flops = 0;
  for (const record::PlannedStep& step : run.plan) flops += step.flops;
  const double rows = run.flops_per_sample > 0 ? flops / run.flops_per_sample : 0;
  if (rows < 0.5)
    fail("{}: neither plan.rows nor flops_per_sample says for how many samples it was planned",
         (run.folder / "run.json").string());
  return std::llround(rows);
}

// For a run of an older version: a new plan of the same network shows when gradients are final.
void plan_anew(record::RunRecord& run) {
  const std::string file = (run.folder / "run.json").string();
  const Spec recipe = run.recipe, model = Args(recipe, "recipe").spec("model", Spec());
  bool known = false;
  for (const Row<zoo::Network>* row : zoo::networks()) known = known || row->name == model.name();
  if (!known)
    fail(
        "{}: does not say which gradients are final when (an older program wrote it), and '{}' is not a network of the "
        "zoo that could be planned again; train a few steps with this program",
        file, model.str());
  const Spec loss = Args(recipe, "recipe").spec("loss", Spec());
  const auto network = zoo::make_network(model);
  const graph::Plan plan = graph::make_plan(zoo::training_graph(*network, rows_of(run), loss));
  for (std::size_t s = 0; s < std::max(plan.steps.size(), run.plan.size()); ++s) {
    const auto step = [&]() -> const graph::PlanStep& { return plan.steps[graph::StepId(s)]; };
    const std::string now = s < plan.steps.size() ? step().name + " " + step().kernel : "none";
    const std::string then = s < run.plan.size() ? run.plan[s].name + " " + run.plan[s].kernel : "none";
    if (now != then)
      fail(
          "{}: kernel {} is '{}', a plan of {} made now has '{}': it was planned by another program, and does not say "
          "which gradients are final when; train a few steps with this program",
          file, s + 1, then, model.str(), now);
    run.plan[s].final_parameters = plain_numbers(step().final_parameters);
  }
  for (const graph::PlanParameter& p : plan.parameters)
    run.plan_parameters.push_back(
        {p.name, p.layout.data.ndims == 0 ? p.declared.shape.count() : padded_count(p.layout), p.declared.trained});
}

record::RunRecord read_facts(const fs::path& folder) {
  record::RunRecord run = record::read_run_facts(folder);
  const std::string file = (folder / "run.json").string();
  if (!run.described) fail("{}: is missing or damaged; a traced run has it beside its trace", file);
  if (run.plan.empty()) fail("{}: contains no plan, so its trace cannot be interpreted", file);
  if (run.forward_steps > run.plan.size())
    fail("{}: {} of {} kernels are said to be forward", file, run.forward_steps, run.plan.size());
  if (run.plan_parameters.empty()) plan_anew(run);
  return run;
}

}  // namespace

fs::path run_folder(const fs::path& run_or_trace) {
  std::error_code none;
  if (!fs::exists(run_or_trace, none)) fail_usage("trace: there is no '{}'", run_or_trace.string());
  fs::path folder = fs::is_regular_file(run_or_trace, none) ? run_or_trace.parent_path() : run_or_trace;
  if (folder.filename().empty()) folder = folder.parent_path();  // given with a trailing slash
  if (!record::is_run(folder) && folder.filename() == "trace") folder = fs::absolute(folder).parent_path();
  if (!record::is_run(folder))
    fail_usage("trace: '{}' is neither the folder of a run nor its trace/: it has no recipe.toml",
               run_or_trace.string());
  return folder;
}

sim::Workload workload_of_run(const fs::path& run_or_trace) {
  const fs::path folder = run_folder(run_or_trace), trace = folder / "trace" / "rank0.json";
  const record::RunRecord run = read_facts(folder);
  if (!fs::exists(trace))
    fail("{}: is missing; a run writes it unless trace_steps or trace_mb of its [report] is 0", trace.string());
  const TracedKernels kernels = match_kernels(run.plan, record::read_trace(folder, 0), trace.string());

  sim::Workload workload;
  workload.name = run.model();
  workload.batch = rows_of(run) * kernels.passes;
  workload.sample_bytes = sample_bytes(run);
  if (kernels.earlier_passes > 0) add_kernel(workload.forward, kernels.earlier_passes);
  for (std::size_t s = 0; s < run.plan.size(); ++s) {
    workload.flops += run.plan[s].flops * kernels.passes;
    add_kernel(s < run.forward_steps ? workload.forward : workload.backward, kernels.seconds[s],
               run.plan[s].final_parameters);
  }
  for (const record::PlannedParameter& p : run.plan_parameters) {
    const auto update = kernels.updates.find(p.name);
    if (p.trained && update == kernels.updates.end() && !kernels.updates.empty())
      fail("{}: parameter '{}' of the plan in run.json is never updated; the first that is, is '{}'", trace.string(),
           p.name, kernels.updates.begin()->first);
    workload.parameters.push_back(
        {p.name, gradient_room(p.numbers), p.trained, update == kernels.updates.end() ? 0 : update->second});
  }
  workload.origin = fmt::format("{}, rank 0 of {}, median of {} traced step{}", folder.string(), run.ranks,
                                kernels.steps, kernels.steps == 1 ? "" : "s");
  return workload;
}

double sustained_rate(const sim::Workload& workload) {
  const double seconds = workload.compute_seconds();
  if (!(seconds > 0) || !(workload.flops > 0))
    fail("{}: {} in {} s of computing give no rate", workload.origin, human_flops(workload.flops), seconds);
  return workload.flops / seconds;
}

sim::Workload on_another_rank(const sim::Workload& workload, double flops_per_second, double recorded) {
  if (!(flops_per_second > 0)) fail_usage("{}: a rank that sustains {} FLOP/s", workload.name, flops_per_second);
  const double rate = recorded > 0 ? recorded : sustained_rate(workload);
  sim::Workload scaled = workload.times(rate / flops_per_second);
  scaled.origin += fmt::format("; times scaled from {}/s to {}/s", human_flops(rate), human_flops(flops_per_second));
  return scaled;
}

}  // namespace isobar::forecast
