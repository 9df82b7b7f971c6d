// isobar data stats, as a user sees it.
#include <fstream>

#include "tests/cli/program.hpp"

namespace {

const std::string data_stats_noise = "'noise(shape=[8, 8, 2], targets=2, count=20)'";

TEST(DataStats, ATableAndAFileThatNormalizeReads) {
  const TemporaryFolder folder;
  const std::string file = folder / "stats.h5";
  const Outcome made = run_isobar("data stats " + data_stats_noise + " --threads 2 --out '" + file + "'");
  EXPECT_EQ(made.code, 0) << made;
  EXPECT_SHOWS(made, "20 samples of 8x8x2");
  EXPECT_SHOWS(made, "channel            min           mean            max            std");
  EXPECT_SHOWS(made, "transforms = [\"normalize(stats=");
  const Outcome again =
      run_isobar("data stats " + data_stats_noise + " --transform \"normalize(stats='" + file + "')\"");
  EXPECT_EQ(again.code, 0) << again;
  EXPECT_SHOWS(again, "      0              0 ");  // the minimum is now 0
  const Outcome there = run_isobar("data stats " + data_stats_noise + " --out '" + file + "'");
  EXPECT_EQ(there.code, 1) << there;
  EXPECT_SHOWS(there, "exists already");
  EXPECT_SHOWS(run_isobar("data stats " + data_stats_noise + " --field y --samples 3"), "3 samples of 2");
}

TEST(DataStats, WrongCalls) {
  expect_wrong_call("data stats", "DATA is required");
  expect_wrong_call("data stats " + data_stats_noise + " --threads -1", "--threads");
  expect_wrong_call("data stats " + data_stats_noise + " --field z", "no field 'z'");
  expect_wrong_call("data stats " + data_stats_noise + " --transform logp", "did you mean 'log1p'?");
  expect_wrong_call("data stats " + data_stats_noise + " --transform subtract_mean", "learns");
  const Outcome missing = run_isobar("data stats not/there.h5");
  EXPECT_EQ(missing.code, 1) << missing;
  EXPECT_EQ(missing.text, "isobar: not/there.h5: there is no such file or folder\n");
}

}  // namespace
