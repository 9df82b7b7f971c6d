// isobar data tokenize, as a user sees it.
#include <fstream>

#include "tests/cli/program.hpp"

namespace {

TEST(Tokenize, BytesOfSeveralTexts) {
  const TemporaryFolder folder;
  std::ofstream(folder / "a.txt") << "hi there";
  std::ofstream(folder / "b.txt") << "x";
  const std::string call = "data tokenize --vocabulary bytes --out " + (folder / "t.bin") + " ";
  const Outcome made = run_isobar(call + (folder / "a.txt") + " " + (folder / "b.txt"));
  EXPECT_EQ(made.code, 0) << made;
  EXPECT_SHOWS(made, "11 tokens of 9 B");
  EXPECT_SHOWS(made, "vocabulary=257");
  std::ifstream in(folder / "t.bin", std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), {});
  ASSERT_EQ(bytes.size(), 22u);
  EXPECT_EQ(bytes.substr(0, 4), std::string("h\0i\0", 4));
  EXPECT_EQ(bytes.substr(16, 6), std::string("\0\1x\0\0\1", 6));  // the end of a text is 256
  EXPECT_SHOWS(run_isobar("data inspect \"tokens(path='" + (folder / "t.bin") + "', context=4, vocabulary=257)\""),
               "2 samples");
  const Outcome again = run_isobar(call + (folder / "a.txt"));
  EXPECT_EQ(again.code, 1);
  EXPECT_SHOWS(again, "exists already");
}

TEST(Tokenize, WrongCalls) {
  const TemporaryFolder folder;
  expect_wrong_call("data tokenize --out x", "--vocabulary is required");
  const Outcome absent =
      run_isobar("data tokenize --vocabulary " + (folder / "none") + " --out " + (folder / "t") + " x");
  EXPECT_EQ(absent.code, 1);
  EXPECT_SHOWS(absent, "encoder.json");
  const Outcome text = run_isobar("data tokenize --vocabulary bytes --out " + (folder / "t") + " " + (folder / "x"));
  EXPECT_EQ(text.code, 1);
  EXPECT_TRUE(text.one_line()) << text;
  EXPECT_FALSE(fs::exists(folder / "t"));
}

}  // namespace
