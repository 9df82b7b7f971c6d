#include "isobar/report/kernel_times.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace isobar::report {

std::vector<KernelTime> kernel_times(std::span<const record::TraceEvent> events) {
  std::map<std::string_view, KernelTime> by_name;
  for (const record::TraceEvent& event : events) {
    if (event.lane != Lane::main || event.category == category_name(Category::idle)) continue;
    KernelTime& kernel = by_name[event.name];
    kernel.name = event.name;
    kernel.category = event.category;
    ++kernel.calls;
    kernel.seconds += event.seconds;
    kernel.flops += event.flops;
    kernel.bytes += event.bytes;
  }
  std::vector<KernelTime> all;
  for (auto& [name, kernel] : by_name) all.push_back(std::move(kernel));
  std::ranges::stable_sort(all, std::ranges::greater(), &KernelTime::seconds);
  return all;
}

std::vector<std::int64_t> traced_steps(std::span<const record::TraceEvent> events) {
  std::set<std::int64_t> steps;
  for (const record::TraceEvent& event : events) steps.insert(event.step);
  return {steps.begin(), steps.end()};
}

}  // namespace isobar::report
