// isobar data convert, as a user sees it.
#include <fstream>

#include "tests/cli/program.hpp"

namespace {

const std::string noise = "'noise(shape=[6, 6, 3], targets=2, count=12)'";

Outcome convert(const std::string& from, const std::string& to, const std::string& more = "") {
  return run_isobar("data convert " + from + " '" + to + "' " + more);
}

std::string table_of(const std::string& what) {
  const std::string text = run_isobar("data stats " + what).text;
  return text.substr(std::min(text.size(), text.find("channel")));
}

TEST(DataConvert, FromFormatToFormat) {
  const TemporaryFolder folder;
  const Outcome records = convert(noise, folder / "set.tfrecord.gz", "--threads 3");
  ASSERT_EQ(records.code, 0) << records;
  EXPECT_SHOWS(records, "12 samples as tfrecord(gzip=true)");
  EXPECT_SHOWS(records, "train = \"tfrecord(");
  const Outcome arrays = convert("'" + folder / "set.tfrecord.gz" + "'", folder / "set.npz");
  ASSERT_EQ(arrays.code, 0) << arrays;
  EXPECT_SHOWS(arrays, "train = \"npy(");
  EXPECT_EQ(table_of("'" + folder / "set.npz" + "'"), table_of(noise));
  EXPECT_SHOWS(run_isobar("data inspect '" + folder / "set.npz" + "'"), "In a recipe:");
  const Outcome again = convert(noise, folder / "set.npz");
  EXPECT_EQ(again.code, 1) << again;
  EXPECT_TRUE(again.one_line()) << again;
  EXPECT_SHOWS(again, "exists already");
}

TEST(DataConvert, NamesOfChannelsGoAlong) {
  const TemporaryFolder folder;
  const std::string states = "'atmosphere(height=24, width=36, count=2, channels=[TMQ, PSL])'";
  ASSERT_EQ(convert(states, folder / "states.nc").code, 0);
  ASSERT_EQ(convert("'" + folder / "states.nc" + "'", folder / "states.h5").code, 0);
  const Outcome seen =
      run_isobar("data inspect '" + folder / "states.h5" + "' --transform 'select_channels(channels=PSL)'");
  EXPECT_EQ(seen.code, 0) << seen;
  EXPECT_SHOWS(seen, "channels: PSL");
  EXPECT_SHOWS(run_isobar("data stats '" + folder / "states.h5" + "'"), "    TMQ ");
}

TEST(DataConvert, SamplesTransformsAndWhatDoesNotFit) {
  const TemporaryFolder folder;
  const Outcome part = convert(noise, folder / "part", "--as npy --samples 5 --transform 'crop(size=4)'");
  ASSERT_EQ(part.code, 0) << part;
  const Outcome seen = run_isobar("data inspect '" + folder / "part" + "'");
  EXPECT_SHOWS(seen, "5 samples");
  EXPECT_SHOWS(seen, "x    4x4x3");
  const Outcome wrong = convert(noise, folder / "whole.npz", "--as 'npy(type=uint8)'");
  EXPECT_EQ(wrong.code, 1) << wrong;
  EXPECT_TRUE(wrong.one_line()) << wrong;
  EXPECT_SHOWS(wrong, "sample 0");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1) << "something was left behind";
}

TEST(DataConvert, WrongCalls) {
  const TemporaryFolder folder;
  expect_wrong_call("data convert", "FROM is required");
  expect_wrong_call("data convert " + noise, "TO is required");
  expect_wrong_call("data convert " + noise + " '" + folder / "set.xyz" + "'", "its ending is not that of a format");
  expect_wrong_call("data convert " + noise + " '" + folder / "set.h5" + "' --as hdf6", "did you mean 'hdf5'?");
  expect_wrong_call("data convert " + noise + " '" + folder / "set.h5" + "' --as universe", "cannot be written");
  for (const auto& [from, to, message] :
       {std::tuple{folder / "not_there.h5", folder / "set.h5", "there is no such file or folder"},
        std::tuple{folder / "garbage", folder / "set.h5", "is of no known format"},
        std::tuple{folder / "empty", folder / "set.h5", "holds no files"},
        std::tuple{folder / "garbage", folder / "no/folder/set.h5", "does not exist"}}) {
    std::ofstream(folder / "garbage") << "neither fish nor fowl";
    fs::create_directory(folder / "empty");
    const Outcome outcome = convert("'" + from + "'", to);
    EXPECT_EQ(outcome.code, 1) << outcome;
    EXPECT_TRUE(outcome.one_line()) << outcome;
    EXPECT_SHOWS(outcome, message);
    EXPECT_FALSE(fs::exists(folder / "set.h5"));
  }
}

}  // namespace
