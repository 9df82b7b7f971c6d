// Calls to hwloc: finds the cores this process may use, and binds threads to some of them.
#include <atomic>
#include <memory>

#include <hwloc.h>

#include "isobar/base/error.hpp"
#include "isobar/machine/cores.hpp"

namespace isobar::machine {
namespace {

using Topology = std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)>;
using Set = std::unique_ptr<hwloc_bitmap_s, decltype(&hwloc_bitmap_free)>;

Topology load() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) fail("the topology of the machine cannot be read (hwloc)");
  Topology topology(raw, hwloc_topology_destroy);
  if (hwloc_topology_load(raw) != 0) fail("the topology of the machine cannot be read (hwloc)");
  return topology;
}

// If the topology shows no cores, logical processors take their place.
hwloc_obj_type_t kind_of_core(hwloc_topology_t topology) {
  return hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE) > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
}

Set processors_of(hwloc_topology_t topology, const Cores& cores) {
  Set set(hwloc_bitmap_alloc(), hwloc_bitmap_free);
  for (const int core : cores) {
    const hwloc_obj_t object = hwloc_get_obj_by_type(topology, kind_of_core(topology), core);
    if (object) hwloc_bitmap_or(set.get(), set.get(), object->cpuset);
  }
  return set;
}

bool bind(hwloc_topology_t topology, hwloc_const_cpuset_t set) {
  return hwloc_set_cpubind(topology, set, HWLOC_CPUBIND_THREAD) == 0;
}

}  // namespace

Cores usable_cores() {
  const Topology topology = load();
  const Set set(hwloc_bitmap_alloc(), hwloc_bitmap_free);
  const bool known = hwloc_get_cpubind(topology.get(), set.get(), HWLOC_CPUBIND_THREAD) == 0;
  Cores cores;
  for (hwloc_obj_t core = nullptr;
       (core = hwloc_get_next_obj_by_type(topology.get(), kind_of_core(topology.get()), core));)
    if (!known || hwloc_bitmap_intersects(core->cpuset, set.get())) cores.push_back(core->logical_index);
  return cores;
}

bool bind_thread(const Cores& cores) {
  if (cores.empty()) return true;
  const Topology topology = load();
  return bind(topology.get(), processors_of(topology.get(), cores).get());
}

bool bind_compute_threads(const Cores& cores) {
  if (cores.empty()) return true;
  const Topology topology = load();
  const Set set = processors_of(topology.get(), cores);
  std::atomic<bool> all = true;
#pragma omp parallel
  if (!bind(topology.get(), set.get())) all = false;
  return all;
}

}  // namespace isobar::machine
