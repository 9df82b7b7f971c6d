// Machine: facts that a run's speed depends on: processor, caches, threads, memory, and the limits of this process.
// Benchmarks print them beside their numbers, `isobar doctor` explains them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace isobar::machine {

struct Cache {
  int level = 0;
  double bytes = 0;  ///< of one cache
  int count = 0;
};

struct Machine {
  std::string processor;
  std::string processor_numbers{};  ///< "family 6 model 106 stepping 6"; empty if the system does not tell
  bool is_virtual = false;
  int sockets = 1, cores = 1, hardware_threads = 1, memory_nodes = 1;
  std::vector<Cache> caches{};  ///< data caches, nearest first

  int usable_threads = 1;  ///< that the affinity mask lets this process use
  double quota = 0;        ///< processors a control group allows; 0: no limit
  int openmp_threads = 1;
  std::string openmp_asked{};    ///< OMP_NUM_THREADS; empty when not set
  std::string openmp_binding{};  ///< OMP_PROC_BIND; empty when not set
  double load = 0;               ///< runnable threads, mean of the last minute
  std::string governor{};        ///< of processor 0; empty if the system does not tell

  double memory_bytes = 0, available_bytes = 0, swap_used_bytes = 0;
  double memory_limit = 0;   ///< the smaller of control group and ulimit -v, in bytes; 0: none
  std::string huge_pages{};  ///< "always", "madvise" or "never"; empty when unknown
};

/// Reads the facts of this machine now.
Machine this_machine();

/// The facts as a few lines for people.
std::string describe(const Machine& machine);

}  // namespace isobar::machine
