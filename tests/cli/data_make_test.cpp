// isobar data make, as a user sees it.
#include <fstream>

#include "tests/cli/program.hpp"

namespace {

TEST(DataMakeUniverse, MakesWhatIsNotThere) {
  const TemporaryFolder folder;
  const std::string make =
      "data make universe --size 8 --mesh 16 --seed 3 --train 10 --test 2 --out '" + folder / "u" + "'";
  const Outcome made = run_isobar(make);
  EXPECT_EQ(made.code, 0) << made;
  EXPECT_SHOWS(made, "10 training and 2 test samples of 8^3 x 4 (12 made");
  EXPECT_SHOWS(made, "train = \"hdf5(path=");
  EXPECT_SHOWS(run_isobar(make), "12 were there");
}

TEST(DataMakeUniverse, WhatCannotBeWrittenIsOneLineAndNothing) {
  const TemporaryFolder folder;
  std::ofstream(folder / "file") << "in the way";
  const Outcome outcome = run_isobar("data make universe --size 8 --mesh 16 --out '" + folder / "file/below" + "'");
  EXPECT_EQ(outcome.code, 1) << outcome;
  EXPECT_TRUE(outcome.one_line()) << outcome;
  EXPECT_SHOWS(outcome, "file/below/train");
  EXPECT_TRUE(fs::is_regular_file(folder / "file"));
}

TEST(DataMakeAtmosphere, MakesWhatIsNotThere) {
  const TemporaryFolder folder;
  const std::string make =
      "data make atmosphere --height 24 --width 36 --train 3 --test 2 --out '" + folder / "a" + "'";
  const Outcome made = run_isobar(make);
  EXPECT_EQ(made.code, 0) << made;
  EXPECT_SHOWS(made, "3 training and 2 validation samples of 24 x 36 x 16 (5 made");
  EXPECT_SHOWS(made, "train = \"hdf5(path=");
  EXPECT_SHOWS(run_isobar(make), "5 were there");
}

TEST(DataMakeAtmosphere, RefusesADayThatIsNone) {
  const TemporaryFolder folder;
  const Outcome outcome = run_isobar("data make atmosphere --start 2000-02-30 --out '" + folder / "a" + "'");
  EXPECT_EQ(outcome.code, 2) << outcome;
  EXPECT_TRUE(outcome.one_line()) << outcome;
  EXPECT_SHOWS(outcome, "2000-02-30");
}

}  // namespace
