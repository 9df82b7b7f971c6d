// What can be applied to data, by eval and predict, and what cannot.
#include "tests/cli/program.hpp"

namespace {

TEST(Applying, WhatIsNeitherRunNorFileIsNamed) {
  const Outcome outcome = run_isobar("eval no/such.onnx");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_SHOWS(outcome, "no/such.onnx: there is no such run folder, checkpoint or ONNX file");
}

TEST(Applying, TheBestCheckpointIsOfARun) {
  const Outcome outcome = run_isobar("eval --checkpoint best 'onnx(file=a.onnx)'");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_SHOWS(outcome, "--checkpoint best is for runs");
}

}  // namespace
