#include "isobar/machine/advice.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "isobar/base/text.hpp"

namespace isobar::machine {
namespace {

// Each check returns its finding, or "" when there is nothing to say.
using Check = std::string (*)(const Facts&);

std::string debug_build(const Facts& f) {
  if (f.optimised) return "";
  return "this program was built without optimisation: use the release preset";
}

std::string too_many_threads(const Facts& f) {
  const Machine& m = f.machine;
  const int usable = std::min(m.cores, m.usable_threads);
  if (m.openmp_threads <= usable) return "";
  return fmt::format("{} threads for {} usable core{}: set OMP_NUM_THREADS={}", m.openmp_threads, usable,
                     usable == 1 ? "" : "s", usable);
}

std::string idle_cores(const Facts& f) {
  const Machine& m = f.machine;
  const int usable = std::min(m.cores, m.usable_threads);
  if (m.openmp_threads >= usable) return "";
  return fmt::format("{} thread{} for {} usable cores: OMP_NUM_THREADS={} would use them all", m.openmp_threads,
                     m.openmp_threads == 1 ? "" : "s", usable, usable);
}

std::string quota(const Facts& f) {
  const Machine& m = f.machine;
  if (m.quota == 0 || m.quota >= m.openmp_threads) return "";
  return fmt::format(
      "the control group allows the time of {:.3g} processors to {} threads, which then stop and wait for "
      "each other: set OMP_NUM_THREADS={}",
      m.quota, m.openmp_threads, std::max(1, static_cast<int>(std::floor(m.quota))));
}

std::string hidden_amx(const Facts& f) {
  if (!f.amx.flag || f.amx.usable()) return "";
  return "the processor has a matrix unit (AMX) that the virtual machine hides (CPUID leaf 0x1D): bf16 runs without it";
}

std::string low_memory(const Facts& f) {
  const Machine& m = f.machine;
  const double limit = m.memory_limit > 0 ? std::min(m.memory_limit, m.available_bytes) : m.available_bytes;
  if (m.available_bytes == 0 || limit >= 2e9) return "";
  return fmt::format(
      "only {} of memory available: large volumes will not fit ('isobar plan' shows what a network needs)",
      human_bytes(limit));
}

std::string swapping(const Facts& f) {
  if (f.machine.swap_used_bytes < 64e6) return "";
  return fmt::format("{} of memory are swapped out: other programs need the memory of this machine",
                     human_bytes(f.machine.swap_used_bytes));
}

std::string busy(const Facts& f) {
  const Machine& m = f.machine;
  if (m.load <= 0.3 * m.cores) return "";
  return fmt::format("other work runs here: load {:.1f} on {} core{}; timings will be too long", m.load, m.cores,
                     m.cores == 1 ? "" : "s");
}

std::string slow_governor(const Facts& f) {
  if (f.machine.governor != "powersave" && f.machine.governor != "conservative") return "";
  return fmt::format("the frequency governor is '{}': 'performance' may be faster", f.machine.governor);
}

std::string small_pages(const Facts& f) {
  if (f.machine.huge_pages != "never") return "";
  return "transparent huge pages are off: 'madvise' in /sys/kernel/mm/transparent_hugepage/enabled speeds up large "
         "tensors";
}

std::string unbound(const Facts& f) {
  const Machine& m = f.machine;
  if (m.memory_nodes < 2 || !m.openmp_binding.empty()) return "";
  return fmt::format("threads may move between {} memory nodes: set OMP_PROC_BIND=close, or run one process per node",
                     m.memory_nodes);
}

constexpr Check checks[] = {debug_build, too_many_threads, quota,         idle_cores,  low_memory, swapping,
                            busy,        hidden_amx,       slow_governor, small_pages, unbound};

}  // namespace

std::vector<std::string> advice(const Facts& facts) {
  std::vector<std::string> list;
  for (const Check check : checks)
    if (std::string finding = check(facts); !finding.empty()) list.push_back(std::move(finding));
  return list;
}

}  // namespace isobar::machine
