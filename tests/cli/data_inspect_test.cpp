// isobar data inspect, as a user sees it.
#include <fstream>

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

TEST(DataInspect, DrawsWhenAsked) {
  const TemporaryFolder folder;
  const std::string picture = folder / "sheet.png";
  const std::string call = "data inspect 'noise(shape=[8, 8, 3], targets=2, count=20)' --picture '" + picture + "'";
  const Outcome drawn = run_isobar(call);
  EXPECT_EQ(drawn.code, 0) << drawn;
  EXPECT_SHOWS(drawn, "sheet.png: 16 samples");
  std::ifstream in(picture, std::ios::binary);
  std::string magic(8, ' ');
  in.read(magic.data(), 8);
  EXPECT_EQ(magic, "\x89PNG\r\n\x1a\n");
  const Outcome again = run_isobar(call);
  EXPECT_EQ(again.code, 1) << again;
  EXPECT_SHOWS(again, "exists already");
}

TEST(DataInspect, SeesThroughTransforms) {
  const std::string set = "data inspect 'noise(shape=[8, 8, 3], targets=2, count=2)' ";
  EXPECT_SHOWS(run_isobar(set + "--transform 'crop(size=4)' --transform 'select_channels(channels=[0, 1])'"),
               "x    4x4x2");
  expect_wrong_call(set + "--transform 'corp(size=4)'", "did you mean 'crop'?");
}

TEST(DataInspect, WhatCannotBeReadIsOneLine) {
  const TemporaryFolder folder;
  fs::create_directory(folder / "empty");
  std::ofstream(folder / "garbage.bin") << "neither fish nor fowl";
  const auto expect_failure = [&](const std::string& what, const std::string& message) {
    const Outcome outcome = run_isobar("data inspect '" + what + "'");
    EXPECT_EQ(outcome.code, 1) << outcome;
    EXPECT_TRUE(outcome.one_line()) << outcome;
    EXPECT_SHOWS(outcome, message);
  };
  expect_failure("hdf5(path=" + folder / "not_there" + ")", "not_there");
  expect_failure(folder / "not_there.h5", "there is no such file or folder");
  expect_failure(folder / "empty", "holds no files");
  expect_failure(folder / "garbage.bin", "is of no known format");
  expect_wrong_call("data inspect", "DATA is required");
  expect_wrong_call("data inspect noiz", "unknown dataset 'noiz'");
}

}  // namespace
