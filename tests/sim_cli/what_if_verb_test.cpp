// isobar-sim what-if: one quantity changed.
#include "tests/sim_cli/program.hpp"

namespace {

using isobar::tests::TemporaryFolder;

TEST(WhatIfVerb, ChangesOneQuantity) {
  const TemporaryFolder folder;
  const std::string base = small_network + "--platform cori --ranks 8 ";
  for (const char* quantity : {"input", "batch", "lag", "hierarchy", "bucket", "algorithm", "failures"}) {
    const Outcome outcome =
        run_simulator(std::string("what-if ") + quantity + " " + base + "--out " + folder.path().string());
    EXPECT_EQ(outcome.code, 0) << quantity << "\n" << outcome;
    EXPECT_SHOWS(outcome, "error: uncalibrated");
    EXPECT_TRUE(fs::exists(folder / (std::string(quantity) + ".csv"))) << quantity;
  }
  expect_wrong_call("what-if lags " + base, "did you mean 'lag'");
  expect_wrong_call("what-if batch --values many " + base, "'many'");
}

}  // namespace
