// Lines of a growing file: each once and whole, and a notice when lines that were read are gone.
#include "isobar/record/line_tail.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/capture.hpp"

namespace isobar::record {
namespace {

using namespace isobar::tests;
using Lines = std::vector<std::string>;

void add(const std::filesystem::path& file, const std::string& text) { std::ofstream(file, std::ios::app) << text; }

TEST(LineTail, GivesEveryLineOnceWhenItIsWhole) {
  const TemporaryFolder folder;
  LineTail tail(folder / "a");
  EXPECT_EQ(tail.fresh(), Lines{});  // does not exist yet
  EXPECT_EQ(tail.past(), LineTail::Past::there);
  add(folder / "a", "one\ntw");
  EXPECT_EQ(tail.fresh(), Lines{"one"});
  EXPECT_EQ(tail.fresh(), Lines{});
  add(folder / "a", "o\n\nthree\n");
  EXPECT_EQ(tail.fresh(), (Lines{"two", "", "three"}));
  EXPECT_EQ(tail.past(), LineTail::Past::there);
}

TEST(LineTail, NoticesThatAFileWasCut) {
  const TemporaryFolder folder;
  LineTail tail(folder / "a");
  add(folder / "a", "one\ntwo\nthree\n");
  tail.fresh();
  std::filesystem::resize_file(folder / "a", 8);
  EXPECT_EQ(tail.past(), LineTail::Past::cut);
  add(folder / "a", "another\nand\nmore\n");  // longer than before
  EXPECT_EQ(tail.past(), LineTail::Past::cut);
  tail.restart();
  EXPECT_EQ(tail.fresh(), (Lines{"one", "two", "another", "and", "more"}));
  std::filesystem::resize_file(folder / "a", 4);
  add(folder / "a", "TWO\nanother\nand\nmore\n");
  EXPECT_EQ(tail.past(), LineTail::Past::gone);  // two lines identify the file, one does not
}

TEST(LineTail, KnowsALongFileAgainByItsBeginning) {
  const TemporaryFolder folder;
  LineTail tail(folder / "a");
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "line " + std::to_string(i) + "\n";
  add(folder / "a", text);
  EXPECT_EQ(tail.fresh().size(), 1000u);
  std::filesystem::resize_file(folder / "a", 4000);
  add(folder / "a", fmt::format("{:x>20000}\n", ""));
  EXPECT_EQ(tail.past(), LineTail::Past::cut);
  std::ofstream(folder / "a") << "other\n" << text << text;
  EXPECT_EQ(tail.past(), LineTail::Past::gone);
  std::filesystem::remove(folder / "a");
  EXPECT_EQ(tail.past(), LineTail::Past::gone);
}

TEST(LineTail, LongFilesComeInParts) {
  const TemporaryFolder folder;
  const std::string line(1 << 20, 'a');
  for (int i = 0; i < 6; ++i) add(folder / "a", line + "\n");
  LineTail tail(folder / "a");
  std::size_t lines = 0, calls = 0;
  for (Lines part = tail.fresh(); !part.empty(); part = tail.fresh()) lines += part.size(), ++calls;
  EXPECT_EQ(lines, 6u);
  EXPECT_GT(calls, 1u);
}

TEST(LineTail, ALineWithoutEndTakesNoMemoryForEver) {
  const TemporaryFolder folder;
  add(folder / "a", "first\n" + std::string(std::size_t{9} << 20, 'a') + "\nlast\n");
  LineTail tail(folder / "a");
  EXPECT_EQ(tail.fresh(), Lines{"first"});
  EXPECT_EQ(tail.fresh(), Lines{});
}

}  // namespace
}  // namespace isobar::record
