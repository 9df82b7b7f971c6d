// isobar data convert, as a user meets it.
#include <fstream>

#include "tests/cli/program.hpp"

namespace {

const std::string noise = "'noise(shape=[6, 6, 3], targets=2, count=12)'";

Outcome convert(const std::string& from, const std::string& to, const std::string& more = "") {
  return run_isobar("data convert " + from + " '" + to + "' " + more);
}

TEST(DataConvert, WrongCalls) {
  const TemporaryFolder folder;
  expect_wrong_call("data convert", "FROM is required");
  expect_wrong_call("data convert " + noise, "TO is required");
  expect_wrong_call("data convert " + noise + " '" + folder / "set.xyz" + "'", "its ending names no format");
  expect_wrong_call("data convert " + noise + " '" + folder / "set.h5" + "' --as hdf6", "did you mean 'hdf5'?");
  expect_wrong_call("data convert " + noise + " '" + folder / "set.h5" + "' --as universe", "cannot be written");
  for (const auto& [from, to, message] :
       {std::tuple{folder / "not_there.h5", folder / "set.h5", "there is no such file or folder"},
        std::tuple{folder / "garbage", folder / "set.h5", "is of no known format"},
        std::tuple{folder / "empty", folder / "set.h5", "holds no files"},
        std::tuple{folder / "garbage", folder / "no/folder/set.h5", "is not there"}}) {
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
