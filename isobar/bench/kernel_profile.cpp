#include "isobar/bench/kernel_profile.hpp"

#include <algorithm>
#include <map>

#include "isobar/base/error.hpp"

namespace isobar::bench {
namespace {

// The times of one kernel in every step.
struct Sums {
  MeasuredKernel kernel{};
  std::vector<double> seconds{};
};

// What the plan knows about a kernel, by its name in the trace.
std::map<std::string, const graph::PlanStep*> planned_kernels(const graph::Plan& plan) {
  std::map<std::string, const graph::PlanStep*> known;
  for (const graph::PlanStep& step : plan.steps) known.emplace(step.name + " " + step.kernel, &step);
  return known;
}

}  // namespace

std::vector<MeasuredKernel> profile_steps(TrainingStep& step, int steps) {
  expects(steps > 0, "at least one step");
  const auto known = planned_kernels(step.executor().plan());
  std::map<std::string, Sums> all;
  for (int i = 0; i < steps; ++i) {
    for (const Event& event : step.run_traced()) {
      if (event.lane != Lane::main) continue;
      const std::string& name = step.name_of(event);
      Sums& sums = all[name];
      sums.seconds.resize(i + 1, 0.0);
      if (sums.kernel.name.empty()) {
        sums.kernel = {name, std::string(category_name(event.category)), ""};
        if (const auto found = known.find(name); found != known.end()) {
          sums.kernel.shape = found->second->shape.str();
          sums.kernel.library = found->second->library;
        }
      }
      sums.seconds.back() += event.seconds;
      if (i > 0) continue;  // every step does the same work
      sums.kernel.flops += event.flops;
      sums.kernel.bytes += event.bytes;
    }
  }
  std::vector<MeasuredKernel> profile;
  for (auto& [name, sums] : all) {
    sums.seconds.resize(steps, 0.0);
    sums.kernel.seconds = summarize(sums.seconds).median;
    profile.push_back(std::move(sums.kernel));
  }
  std::stable_sort(profile.begin(), profile.end(),
                   [](const MeasuredKernel& a, const MeasuredKernel& b) { return a.seconds > b.seconds; });
  return profile;
}

std::string profile_line(const std::vector<MeasuredKernel>& profile) {
  Record record{"profile", "", ""};
  record.entries.push_back({"isobar"});
  record.profile = profile;
  return record_line(record);
}

std::vector<MeasuredKernel> parse_profile(const std::string& line) { return parse_record(line).profile; }

}  // namespace isobar::bench
