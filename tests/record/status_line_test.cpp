#include "isobar/record/status_line.hpp"

#include <gtest/gtest.h>

#include "tests/capture.hpp"

namespace isobar::record {
namespace {

using namespace isobar::tests;
TEST(StatusLine, RedrawsAtMostTenTimesASecond) {
  Capture capture;
  double time = 0;
  StatusLine line(Screen{capture.file(), true, [] { return 80; }, [&] { return time; }});
  EXPECT_TRUE(line.due());
  line.show("a");
  time = 0.05;
  EXPECT_FALSE(line.due());
  time = 0.11;
  EXPECT_TRUE(line.due());
}

TEST(StatusLine, Bar) {
  EXPECT_EQ(bar(0, 10, 5), "[     ]");
  EXPECT_EQ(bar(5, 10, 5), "[==>  ]");
  EXPECT_EQ(bar(10, 10, 5), "[=====]");
  EXPECT_EQ(bar(11, 10, 5), "[=====]");
  EXPECT_EQ(bar(1, 0, 5), "[     ]");
}

TEST(StatusLine, ElsewhereALineEveryTenSeconds) {
  Capture capture;
  double time = 0;
  StatusLine line(Screen{capture.file(), false, {}, [&] { return time; }});
  time = 9.9;
  EXPECT_FALSE(line.due());
  time = 10;
  EXPECT_TRUE(line.due());
  line.show("half");
  EXPECT_FALSE(line.due());
  line.clear();
  EXPECT_EQ(capture.text(), "half\n");
}

TEST(StatusLine, LeavesNothingBehind) {
  Capture capture;
  {
    StatusLine line(Screen{capture.file(), true, [] { return 6; }, [] { return 0.0; }});
    line.show("half of it");
    line.print("done");
    line.show("x");
  }
  EXPECT_EQ(capture.text(), "\rhalf \x1b[K\r\x1b[Kdone\n\rx\x1b[K\r\x1b[K");
}

}  // namespace
}  // namespace isobar::record
