// The protocol of `isobar run`: what is written can be read back, anything else is refused, no text can break a line.
#include "isobar/control/words.hpp"

#include <gtest/gtest.h>

#include "isobar/base/error.hpp"

namespace isobar::control {
namespace {

TEST(Words, reports_are_read_as_they_are_written) {
  Report hello{.kind = Report::Kind::hello, .text = "abc", .shield = true, .rank = 7, .launch = 2};
  hello.pid = 4711;
  hello.host = "node12";
  const Report read = read_report(write(hello));
  EXPECT_TRUE(read.shield);
  EXPECT_EQ(read.rank, 7);
  EXPECT_EQ(read.launch, 2);
  EXPECT_EQ(read.pid, 4711);
  EXPECT_EQ(read.host, "node12");
  EXPECT_EQ(read.text, "abc");
  const Report died = read_report(
      write(Report{.kind = Report::Kind::died, .number = 3, .step = 12, .signal = 9, .text = "step 12: sums 3 of 7"}));
  EXPECT_EQ(died.signal, 9);
  EXPECT_EQ(died.number, 3);
  EXPECT_EQ(died.step, 12);
  EXPECT_EQ(died.text, "step 12: sums 3 of 7");
  EXPECT_EQ(read_report(write(Report{.kind = Report::Kind::ready, .epoch = 5})).epoch, 5u);
  EXPECT_EQ(read_report(write(Report{.kind = Report::Kind::progress, .number = 1'000'000'000'000})).number,
            1'000'000'000'000);
  EXPECT_EQ(read_report(write(Report{.kind = Report::Kind::beat})).text, "");
  EXPECT_EQ(read_report(write(Report{.kind = Report::Kind::where})).kind, Report::Kind::where);
}

TEST(Words, notices_are_read_as_they_are_written) {
  const Notice go = read_notice(write(Notice{.kind = Notice::Kind::go, .epoch = 3, .members = {0, 4, 2}}));
  EXPECT_EQ(go.epoch, 3u);
  EXPECT_EQ(go.members, (std::vector<int>{0, 4, 2}));
  const Notice failure = read_notice(write(Notice{.kind = Notice::Kind::failure, .rank = -1, .text = "no  file"}));
  EXPECT_EQ(failure.rank, -1);
  EXPECT_EQ(failure.text, "no  file");
  EXPECT_EQ(read_notice(write(Notice{.kind = Notice::Kind::leave})).kind, Notice::Kind::leave);
}

TEST(Words, a_go_to_all_ranks_fits_a_line) {
  Notice go{.kind = Notice::Kind::go, .epoch = 1};
  for (int rank = 0; rank < most_ranks; ++rank) go.members.push_back(rank);
  EXPECT_LT(write(go).size(), longest_notice);
}

TEST(Words, no_text_can_break_a_line) {
  const std::string nasty = std::string("a\nleave\n\x1b[2J") + std::string(100'000, 'x');
  const std::string line = write(Report{.kind = Report::Kind::fail, .text = nasty});
  EXPECT_LT(line.size(), longest_report);
  EXPECT_EQ(line.find_first_of("\n\x1b"), std::string::npos);
}

TEST(Words, anything_else_is_refused) {
  for (const char* line : {"",
                           " ",
                           "hallo",
                           "ready",
                           "ready x",
                           "ready -1",
                           "ready 1 2",
                           "ready 99999999999",
                           "progress -1",
                           "goodbye 256",
                           "where now",
                           "hello rank 0 0 1 h",
                           "hello rank -1 0 1 h t",
                           "hello rank 8192 0 1 h t",
                           "hello king 0 0 1 h t",
                           "hello rank 0 0 0 h t",
                           "hello rank 0 0 1 h t more",
                           "died 9",
                           "died 999 0 0 x",
                           "GET / HTTP/1.1"})
    EXPECT_THROW(read_report(line), Error) << line;
  for (const char* line : {"", "go", "go 1", "go 1 ", "go 1 x", "go 1 0 -1", "dead 1", "leave now", "beat x"})
    EXPECT_THROW(read_notice(line), Error) << line;
}

}  // namespace
}  // namespace isobar::control
