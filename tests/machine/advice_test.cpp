#include "isobar/machine/advice.hpp"

#include <functional>

#include <gtest/gtest.h>

namespace isobar::machine {
namespace {

Facts good() {
  Facts facts;
  facts.machine = {.processor = "Abacus 3000",
                   .cores = 4,
                   .hardware_threads = 8,
                   .usable_threads = 8,
                   .openmp_threads = 4,
                   .memory_bytes = 32e9,
                   .available_bytes = 30e9,
                   .huge_pages = "madvise"};
  return facts;
}

TEST(Advice, NothingToSayOfAGoodMachine) { EXPECT_TRUE(advice(good()).empty()); }

TEST(Advice, EveryTroubleIsFoundAlone) {
  struct Case {
    std::function<void(Facts&)> spoil;
    std::string says;
  };
  const Case cases[] = {
      {[](Facts& f) { f.optimised = false; }, "without optimisation"},
      {[](Facts& f) { f.machine.openmp_threads = 8; }, "8 threads for 4 usable cores: set OMP_NUM_THREADS=4"},
      {[](Facts& f) { f.machine.usable_threads = 1; }, "4 threads for 1 usable core: set OMP_NUM_THREADS=1"},
      {[](Facts& f) { f.machine.openmp_threads = 1; }, "1 thread for 4 usable cores"},
      {[](Facts& f) { f.machine.quota = 1.5; }, "time of 1.5 processors to 4 threads"},
      {[](Facts& f) { f.machine.available_bytes = 1e9; }, "only 1.00 GB of memory"},
      {[](Facts& f) { f.machine.memory_limit = 5e8; }, "only 500 MB of memory"},
      {[](Facts& f) { f.machine.swap_used_bytes = 1e9; }, "swapped out"},
      {[](Facts& f) { f.machine.load = 3; }, "load 3.0 on 4 cores"},
      {[](Facts& f) { f.amx = {.flag = true, .palettes = 0}; }, "AMX"},
      {[](Facts& f) { f.machine.governor = "powersave"; }, "governor is 'powersave'"},
      {[](Facts& f) { f.machine.huge_pages = "never"; }, "huge pages are off"},
      {[](Facts& f) { f.machine.memory_nodes = 2; }, "OMP_PROC_BIND"},
  };
  for (const Case& c : cases) {
    Facts facts = good();
    c.spoil(facts);
    const std::vector<std::string> found = advice(facts);
    ASSERT_EQ(found.size(), 1u) << c.says;
    EXPECT_NE(found[0].find(c.says), std::string::npos) << found[0];
  }
}

TEST(Advice, UsableMatrixUnitIsNoTrouble) {
  Facts facts = good();
  facts.amx = {.flag = true, .palettes = 1};
  facts.machine.governor = "performance";
  facts.machine.quota = 4;
  EXPECT_TRUE(advice(facts).empty());
}

}  // namespace
}  // namespace isobar::machine
