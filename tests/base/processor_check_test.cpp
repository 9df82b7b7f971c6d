// A program built for instructions that no processor here has (tests/base/lacking.cpp) ends before main() begins.
#include "isobar/base/processor_needs.hpp"

#include <gtest/gtest.h>

#include "tests/program.hpp"

namespace {

TEST(ProcessorCheck, EndsInOneLineWhatCannotRunHere) {
  const Outcome outcome = run_command(ISOBAR_LACKING);
  EXPECT_EQ(outcome.code, 1) << outcome;
  EXPECT_SHOWS(outcome, "isobar: this processor lacks instructions that the program was built for: ");
  EXPECT_SHOWS(outcome, "-DISOBAR_ARCH=x86-64-v3");
  EXPECT_FALSE(outcome.has("began")) << outcome;
  EXPECT_EQ(std::count(outcome.text.begin(), outcome.text.end(), '\n'), 1) << outcome;
}

TEST(ProcessorCheck, KnowsThatThisHouseNeedsAvx2) {
  EXPECT_TRUE(isobar::processor_needs & isobar::needs_avx2);
  EXPECT_TRUE(isobar::processor_needs & isobar::needs_fma);
}

}  // namespace
