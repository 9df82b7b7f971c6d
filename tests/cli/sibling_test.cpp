// A program that was started by the launcher of the other MPI library replaces itself with its sibling.
#include "tests/cli/program.hpp"

TEST(Sibling, TakesOverUnderTheLauncherOfTheOtherLibrary) {
  const Outcome outcome = run_isobar("--version", "OMPI_COMM_WORLD_SIZE=1 OMPI_COMM_WORLD_RANK=0 ");
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_SHOWS(outcome, "isobar 0.");
}

TEST(Sibling, WithoutItOneLineSaysWhatIsMissing) {
  const TemporaryFolder folder;
  fs::copy_file(ISOBAR_PROGRAM, folder / "isobar");
  const Outcome outcome = run_isobar(
      "--version; "
      "OMPI_COMM_WORLD_SIZE=1 OMPI_COMM_WORLD_RANK=0 " +
      folder / "isobar" + " --version");
  EXPECT_EQ(outcome.code, 1) << outcome;
  EXPECT_SHOWS(outcome, folder / "isobar-openmpi");
  EXPECT_SHOWS(outcome, "isobar: started by the launcher of Open MPI");
}
