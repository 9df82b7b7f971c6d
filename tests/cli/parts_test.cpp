// The program without its optional parts: commands that need one fail with one line that says what to install, and
// everything else works.
#include <fstream>

#include "tests/cli/program.hpp"

namespace {

Outcome run_bare(const std::string& arguments, const std::string& before = "") {
  return run_command(before + ISOBAR_BARE_PROGRAM + " " + arguments);
}

void expect_lacking(const Outcome& outcome, const std::string& package) {
  EXPECT_EQ(outcome.code, 1) << outcome;
  EXPECT_TRUE(outcome.one_line()) << outcome;
  EXPECT_SHOWS(outcome, "this build has no");
  EXPECT_SHOWS(outcome, "install " + package);
  EXPECT_SHOWS(outcome, "build again");
}

const std::string bare_noise = "'noise(shape=[8, 8, 1], targets=2, count=8)'";

}  // namespace

TEST(BareProgram, TrainsAlone) {
  const TemporaryFolder folder;
  std::ofstream(folder / "tiny.toml") << "model = 'cosmoflow(size=8, channels=1, width=4, layers=2, outputs=2)'\n"
                                      << "[data]\nbatch = 4\n"
                                      << "train = 'noise(shape=[8, 8, 8, 1], targets=2, count=12)'\n"
                                      << "[train]\nepochs = 2\n";
  const Outcome outcome = run_bare("train '" + folder / "tiny.toml" + "' --set folder='" + folder / "run" + "'");
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_SHOWS(outcome, "finished 6 steps");
}

TEST(BareProgram, WithoutMpiStartsAndJoinsNoRanks) {
  expect_lacking(run_bare("run -n 2 -- train recipe.toml"), "libmpich-dev and mpich");
  expect_lacking(run_bare("doctor --quick", "PMI_SIZE=2 PMI_RANK=0 "), "libmpich-dev and mpich");
}

TEST(BareProgram, WithoutLibrariesOfFormatsSaysWhichIsMissing) {
  const TemporaryFolder folder;
  EXPECT_EQ(run_bare("data convert " + bare_noise + " '" + folder / "set.h5" + "'").code, 0);
  const std::string images = "'noise(shape=[8, 8, 3], targets=1, classes=2, count=8)'";
  expect_lacking(run_bare("data convert " + images + " '" + folder / "base" + "' --as lmdb"), "liblmdb-dev");
  EXPECT_FALSE(fs::exists(folder / "base"));
  expect_lacking(run_bare("data convert " + bare_noise + " '" + folder / "set.nc" + "'"), "libnetcdf-dev");
  EXPECT_FALSE(fs::exists(folder / "set.nc"));
  expect_lacking(run_bare("onnx export 'lenet(size=16, scale=0.2)' --out " + folder / "net.onnx"),
                 "libonnx-dev and libprotobuf-dev");
  std::ofstream(folder / "net.onnx") << "not looked into";
  expect_lacking(run_bare("onnx check " + folder / "net.onnx"), "libonnx-dev and libprotobuf-dev");
}

TEST(BareProgram, WithoutFourierTransformsMakesNoUniverse) {
  const TemporaryFolder folder;
  const Outcome outcome =
      run_bare("data make universe --size 8 --mesh 16 --train 1 --test 0 --out '" + folder / "universe" + "'");
  EXPECT_EQ(outcome.code, 1) << outcome;
  EXPECT_SHOWS(outcome, "this build has none; install libfftw3-dev or libkissfft-dev and build again");
}
