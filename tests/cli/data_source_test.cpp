// How the commands of `isobar data` tell files and folders from Specs.
#include <fstream>

#include "tests/cli/program.hpp"

namespace {

TEST(DataSource, WhatExistsIsAPath) {
  const TemporaryFolder folder;
  // A file may have the name of a data set; then the name means the file.
  std::ofstream(folder / "noise") << "neither fish nor fowl";
  const std::string here = "cd '" + folder.path().string() + "' && ";
  const auto run = [&](const std::string& arguments) { return run_isobar(arguments, here); };
  EXPECT_SHOWS(run("data inspect noise"), "noise: is of no known format");
  fs::remove(folder / "noise");
  EXPECT_SHOWS(run("data inspect noise"), "samples");
  EXPECT_SHOWS(run("data inspect noise.h5"), "noise.h5: there is no such file or folder");
  EXPECT_SHOWS(run("data inspect data/noise"), "data/noise: there is no such file or folder");
  EXPECT_SHOWS(run("data inspect 'hdf5(path=a/b.h5)'"), "a/b.h5");
}

}  // namespace
