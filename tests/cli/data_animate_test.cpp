// isobar data animate, as a user sees it.
#include <fstream>

#include "tests/cli/program.hpp"

namespace {

TEST(DataAnimate, WritesStillAndMovingMaps) {
  const TemporaryFolder folder;
  const std::string small = " --height 24 --width 36 --pixels 64";
  const Outcome still = run_isobar("data animate '" + folder / "one.png" + "' --frames 1" + small);
  EXPECT_EQ(still.code, 0) << still;
  EXPECT_SHOWS(still, "a map of precipitable water, 64 x 32 pixels");
  const Outcome moving = run_isobar("data animate '" + folder / "many.png" + "'" + small);
  EXPECT_EQ(moving.code, 0) << moving;
  EXPECT_SHOWS(moving, "24 maps of precipitable water");
  std::ifstream file(folder / "many.png", std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  EXPECT_NE(bytes.find("acTL"), std::string::npos);
}

TEST(DataAnimate, WhatCannotBeWrittenIsOneLine) {
  const TemporaryFolder folder;
  const Outcome outcome = run_isobar("data animate '" + folder / "no/such/folder.png" + "' --height 24 --width 36");
  EXPECT_EQ(outcome.code, 1) << outcome;
  EXPECT_TRUE(outcome.one_line()) << outcome;
}

}  // namespace
