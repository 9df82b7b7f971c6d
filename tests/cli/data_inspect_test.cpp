// isobar data inspect, as a user meets it.
#include "tests/cli/program.hpp"

namespace {

TEST(DataInspect, ShowsFieldsAndFirstSamples) {
  const TemporaryFolder folder;
  const std::string universe = folder / "universe";
  ASSERT_EQ(run_isobar("data make universe --size 8 --mesh 16 --train 10 --test 0 --out '" + universe + "'").code, 0);
  const Outcome seen = run_isobar("data inspect \"hdf5(path='" + universe + "/train', log=true)\" --samples 2");
  EXPECT_EQ(seen.code, 0) << seen;
  EXPECT_SHOWS(seen, "10 samples");
  EXPECT_SHOWS(seen, "x    8x8x8x4");
  EXPECT_SHOWS(seen, "0000000000_000001.h5");
  EXPECT_FALSE(seen.has("0000000000_000002.h5")) << seen;
}

TEST(DataInspect, WhatIsNotThereIsOneLine) {
  const TemporaryFolder folder;
  const Outcome missing = run_isobar("data inspect 'hdf5(path=" + folder / "not_there" + ")'");
  EXPECT_EQ(missing.code, 1) << missing;
  EXPECT_TRUE(missing.one_line()) << missing;
}

}  // namespace
