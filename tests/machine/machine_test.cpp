#include "isobar/machine/machine.hpp"

#include <gtest/gtest.h>

#include "isobar/machine/peaks.hpp"
#include "isobar/machine/versions.hpp"
#include "isobar/worlds/fft.hpp"

namespace isobar::machine {
namespace {

TEST(Machine, FactsHoldTogether) {
  const Machine m = this_machine();
  EXPECT_FALSE(m.processor.empty());
  EXPECT_GE(m.cores, m.sockets);
  EXPECT_GE(m.hardware_threads, m.cores);
  EXPECT_GE(m.usable_threads, 1);
  EXPECT_GE(m.openmp_threads, 1);
  EXPECT_GT(m.memory_bytes, 0);
  EXPECT_LE(m.available_bytes, m.memory_bytes);
  EXPECT_GE(m.swap_used_bytes, 0);
  for (std::size_t i = 1; i < m.caches.size(); ++i) EXPECT_GE(m.caches[i].bytes, m.caches[i - 1].bytes);
}

TEST(Machine, Described) {
  const Machine m{.processor = "Abacus 3000",
                  .is_virtual = true,
                  .sockets = 2,
                  .cores = 8,
                  .hardware_threads = 16,
                  .memory_nodes = 2,
                  .caches = {{1, 49152, 8}, {2, 1310720, 8}, {3, 50331648, 2}},
                  .usable_threads = 4,
                  .quota = 2.5,
                  .openmp_threads = 4,
                  .openmp_asked = "4",
                  .load = 0.25,
                  .governor = "performance",
                  .memory_bytes = 32e9,
                  .available_bytes = 30e9,
                  .memory_limit = 8e9,
                  .huge_pages = "madvise"};
  EXPECT_EQ(describe(m),
            "  processor      Abacus 3000 (virtual machine)\n"
            "  cores          2 sockets, 8 cores, 16 hardware threads, 2 memory nodes\n"
            "  caches         L1 8 x 48 KiB, L2 8 x 1280 KiB, L3 2 x 48 MiB\n"
            "  may use        4 hardware threads, time of 2.5 (control group)\n"
            "  OpenMP         4 threads; OMP_NUM_THREADS 4, OMP_PROC_BIND not set\n"
            "  memory         32.0 GB, 30.0 GB available, limited to 8.00 GB\n"
            "  huge pages     madvise\n"
            "  governor       performance\n"
            "  load           0.25 in the last minute\n");
}

TEST(Peaks, AreMeasured) {
  const Peaks peaks = measure_peaks(0.001);
  EXPECT_GT(peaks.flops_per_second, 0);
  EXPECT_GT(peaks.bytes_per_second, 0);
  EXPECT_GE(peaks.threads, 1);
}

TEST(Versions, NameTheLibraries) {
  std::string names;
  for (const auto& [name, version] : versions()) {
    names += name + " ";
    EXPECT_FALSE(version.empty()) << name;
  }
  EXPECT_EQ(names, "build compiler oneDNN HDF5 " + worlds::fft_library().first + " hwloc API fmt glibc ");
}

}  // namespace
}  // namespace isobar::machine
