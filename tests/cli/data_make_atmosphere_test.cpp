// isobar data make atmosphere, as a user sees it.
#include "tests/cli/program.hpp"

namespace {

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
