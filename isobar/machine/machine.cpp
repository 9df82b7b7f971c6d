#include "isobar/machine/machine.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <omp.h>
#include <sstream>
#include <sys/resource.h>

#include <fmt/format.h>
#include <hwloc.h>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"
#include "isobar/machine/control_group.hpp"

namespace isobar::machine {
namespace {

std::string first_line_of(const char* path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

std::string from_environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// The text after "key :" in a file of such lines.
std::string entry(const char* path, std::string_view key) {
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(key)) continue;
    const auto colon = line.find(':');
    const auto begin = line.find_first_not_of(" \t", colon + 1);
    return colon == std::string::npos || begin == std::string::npos ? "" : line.substr(begin);
  }
  return "";
}

double memory_entry(std::string_view key) { return 1024 * std::strtod(entry("/proc/meminfo", key).c_str(), nullptr); }

void read_topology(Machine& machine) {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) fail("the topology of the machine cannot be read (hwloc)");
  const std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)> topology(raw, hwloc_topology_destroy);
  if (hwloc_topology_load(raw) != 0) fail("the topology of the machine cannot be read (hwloc)");
  const auto count = [&](hwloc_obj_type_t type) { return std::max(1, hwloc_get_nbobjs_by_type(raw, type)); };
  machine.sockets = count(HWLOC_OBJ_PACKAGE);
  machine.cores = count(HWLOC_OBJ_CORE);
  machine.hardware_threads = count(HWLOC_OBJ_PU);
  machine.memory_nodes = count(HWLOC_OBJ_NUMANODE);
  int level = 0;
  for (const auto type : {HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE}) {
    ++level;
    if (const hwloc_obj_t cache = hwloc_get_obj_by_type(raw, type, 0))
      machine.caches.push_back({level, static_cast<double>(cache->attr->cache.size), count(type)});
  }
}

void read_threads(Machine& machine) {
  // Not the mask of this thread, which OMP_PROC_BIND may already have narrowed to one processor.
  machine.usable_threads = omp_get_num_procs();
  machine.openmp_threads = omp_get_max_threads();
  machine.openmp_asked = from_environment("OMP_NUM_THREADS");
  machine.openmp_binding = from_environment("OMP_PROC_BIND");
  machine.load = std::strtod(first_line_of("/proc/loadavg").c_str(), nullptr);
  machine.governor = first_line_of("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
}

void read_memory(Machine& machine) {
  machine.memory_bytes = memory_entry("MemTotal");
  machine.available_bytes = memory_entry("MemAvailable");
  machine.swap_used_bytes = memory_entry("SwapTotal") - memory_entry("SwapFree");
  if (rlimit limit{}; getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    machine.memory_limit = limit.rlim_cur;
  // The choice in force is in brackets: "always [madvise] never".
  const std::string choices = first_line_of("/sys/kernel/mm/transparent_hugepage/enabled");
  const auto open = choices.find('['), close = choices.find(']');
  if (open != std::string::npos && close != std::string::npos)
    machine.huge_pages = choices.substr(open + 1, close - open - 1);
}

// Cache sizes are powers of two, or three times one: whole numbers in these units.
std::string binary_bytes(double bytes) {
  return bytes < 4 * 1024 * 1024 ? fmt::format("{:.0f} KiB", bytes / 1024)
                                 : fmt::format("{:.0f} MiB", bytes / 1024 / 1024);
}

std::string plural(int count, std::string_view thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

}  // namespace

Machine this_machine() {
  Machine machine;
  machine.processor = entry("/proc/cpuinfo", "model name");
  if (machine.processor.empty()) machine.processor = "unknown processor";
  const std::string family = entry("/proc/cpuinfo", "cpu family");
  if (!family.empty())
    machine.processor_numbers = fmt::format("family {} model {} stepping {}", family, entry("/proc/cpuinfo", "model\t"),
                                            entry("/proc/cpuinfo", "stepping"));
  std::istringstream flags(entry("/proc/cpuinfo", "flags"));
  for (std::string flag; flags >> flag;) machine.is_virtual |= flag == "hypervisor";
  read_topology(machine);
  read_threads(machine);
  read_memory(machine);
  const ControlGroup group = control_group();
  machine.quota = group.processors;
  if (group.memory_bytes > 0 && group.memory_bytes < machine.memory_bytes)
    machine.memory_limit =
        machine.memory_limit > 0 ? std::min(machine.memory_limit, group.memory_bytes) : group.memory_bytes;
  return machine;
}

std::string describe(const Machine& machine) {
  std::string text;
  const auto line = [&](std::string_view name, const std::string& value) {
    text += fmt::format("  {:<14} {}\n", name, value);
  };
  line("processor", machine.processor + (machine.is_virtual ? " (virtual machine)" : ""));
  line("cores",
       fmt::format("{}, {}, {}, {}", plural(machine.sockets, "socket"), plural(machine.cores, "core"),
                   plural(machine.hardware_threads, "hardware thread"), plural(machine.memory_nodes, "memory node")));
  std::vector<std::string> caches;
  for (const Cache& cache : machine.caches)
    caches.push_back(fmt::format("L{} {} x {}", cache.level, cache.count, binary_bytes(cache.bytes)));
  if (!caches.empty()) line("caches", join(caches, ", "));
  line("may use", plural(machine.usable_threads, "hardware thread") +
                      (machine.quota > 0 ? fmt::format(", time of {:.3g} (control group)", machine.quota) : ""));
  line("OpenMP", fmt::format("{}; OMP_NUM_THREADS {}, OMP_PROC_BIND {}", plural(machine.openmp_threads, "thread"),
                             machine.openmp_asked.empty() ? "not set" : machine.openmp_asked,
                             machine.openmp_binding.empty() ? "not set" : machine.openmp_binding));
  line("memory",
       fmt::format("{}, {} available{}", human_bytes(machine.memory_bytes), human_bytes(machine.available_bytes),
                   machine.memory_limit > 0 ? ", limited to " + human_bytes(machine.memory_limit) : ""));
  line("huge pages", machine.huge_pages.empty() ? "unknown" : machine.huge_pages);
  if (!machine.governor.empty()) line("governor", machine.governor);
  line("load", fmt::format("{:.2f} in the last minute", machine.load));
  return text;
}

}  // namespace isobar::machine
