// The launcher's sockets against ranks that freeze, strangers, and peers that send nonsense; the clock is the test's.
#include "isobar/control/switchboard.hpp"

#include <gtest/gtest.h>

#include "board.hpp"

namespace isobar::control::tests {
namespace {

// A switchboard whose turns and time the test controls, and peers that are bare sockets.
class Turns : public testing::Test {
 protected:
  void turn(int times = 5) {
    for (int i = 0; i < times; ++i) board.turn(0.001);
  }
  // Lets time pass, in turns shorter than what a launcher takes for its own delay.
  void pass(
      double seconds, const std::function<void()>& meanwhile = [] {}) {
    for (double left = seconds; left > 0; left -= 0.5) {
      now += 0.5;
      meanwhile();
      turn(1);
    }
  }
  LineSocket stranger() {
    LineSocket socket(connect_to("127.0.0.1", board.port(), 5), longest_notice);
    turn();
    return socket;
  }
  LineSocket peer(int rank, bool shield = false) {
    LineSocket socket = stranger();
    Report hello{.kind = Report::Kind::hello, .text = "secret", .shield = shield, .rank = rank};
    hello.pid = 100 + rank;
    hello.host = "here";
    socket.send(write(hello));
    turn();
    return socket;
  }
  void say(LineSocket& socket, const Report& report) {
    socket.send(write(report));
    turn();
  }
  std::vector<std::string> heard(LineSocket& socket) {
    std::vector<std::string> lines;
    turn();
    socket.receive();
    while (const auto line = socket.next()) lines.push_back(*line);
    return lines;
  }
  void begin(std::vector<LineSocket>& ranks) {
    for (int rank = 0; rank < 3; ++rank) ranks.push_back(peer(rank));
    for (LineSocket& rank : ranks) say(rank, {.kind = Report::Kind::ready, .epoch = 1});
    ASSERT_EQ(board.roster().phase(), Roster::Phase::working);
  }

  double now = 100;
  Told told;
  Switchboard board{
      {.ranks = {3, 0, 1}, .token = "secret", .muster_seconds = 50}, told.chronicle, [this] { return now; }};
};

TEST_F(Turns, strangers_are_dropped) {
  for (const std::string& line :
       {std::string("GET / HTTP/1.1"), std::string("ready 1"), std::string("hello rank 0 0 1 host wrong"),
        std::string("hello rank 0 7 1 host secret"), std::string("hello rank 3 0 1 host secret"),
        std::string(100'000, 'x')}) {
    LineSocket socket = stranger();
    socket.send(line);
    turn();
    socket.receive();
    EXPECT_TRUE(socket.broken()) << line.substr(0, 40);
  }
  EXPECT_TRUE(board.deserted());
  EXPECT_EQ(board.roster().in(Roster::State::absent).size(), 3u);
}

TEST_F(Turns, who_says_nothing_is_dropped) {
  LineSocket socket = stranger();
  pass(9);
  EXPECT_FALSE(board.deserted());
  pass(2);
  EXPECT_TRUE(board.deserted());
}

TEST_F(Turns, an_endless_line_without_end_is_cut_off) {
  LineSocket socket = stranger();
  socket.send(std::string(longest_report + 100, 'x'));
  turn();
  EXPECT_TRUE(board.deserted());
}

TEST_F(Turns, a_rank_that_talks_nonsense_counts_as_dead) {
  std::vector<LineSocket> ranks;
  begin(ranks);
  ranks[1].send("hello rank 1 0 1 host secret");
  turn();
  EXPECT_EQ(board.roster().state(1), Roster::State::dead);
  EXPECT_EQ(board.roster().phase(), Roster::Phase::mustering);
}

TEST_F(Turns, a_frozen_rank_is_dead_and_its_shield_ends_it) {
  std::vector<LineSocket> ranks;
  begin(ranks);
  LineSocket shield = peer(1, true);
  say(ranks[1], {.kind = Report::Kind::beat, .text = "step 5"});
  pass(9, [&] {
    for (const int rank : {0, 2}) say(ranks[static_cast<std::size_t>(rank)], {.kind = Report::Kind::beat});
  });
  EXPECT_EQ(board.roster().state(1), Roster::State::working);
  pass(2, [&] {
    for (const int rank : {0, 2}) say(ranks[static_cast<std::size_t>(rank)], {.kind = Report::Kind::beat});
  });
  EXPECT_EQ(board.roster().state(1), Roster::State::dead);
  EXPECT_EQ(board.roster().state(0), Roster::State::busy);
  EXPECT_EQ(heard(shield), std::vector<std::string>{"expelled"});
  EXPECT_EQ(heard(ranks[1]).back(), "expelled") << "when it thaws it ends at once";
  say(shield, {.kind = Report::Kind::died, .signal = 9, .text = "step 6: sums"});
  const Death& death = told.chronicle.deaths().at(0);
  EXPECT_TRUE(death.frozen);
  EXPECT_EQ(death.note, "step 6: sums");
  EXPECT_EQ(death.signal, 9);
}

TEST_F(Turns, a_launcher_that_stood_still_blames_nobody) {
  std::vector<LineSocket> ranks;
  begin(ranks);
  now += 100;
  turn();
  EXPECT_TRUE(board.roster().in(Roster::State::dead).empty());
  EXPECT_EQ(board.roster().phase(), Roster::Phase::working);
}

TEST_F(Turns, ranks_that_do_not_come_are_not_waited_for) {
  LineSocket first = peer(0);
  pass(61, [&] { say(first, {.kind = Report::Kind::beat}); });
  EXPECT_EQ(board.roster().phase(), Roster::Phase::relaunching);
  EXPECT_NE(board.roster().reason().find("2 of 3 ranks have not said hello"), std::string::npos);
  EXPECT_TRUE(board.met_anybody());
}

TEST_F(Turns, ranks_that_never_begin_are_not_waited_for) {
  std::vector<LineSocket> ranks;
  for (int rank = 0; rank < 3; ++rank) ranks.push_back(peer(rank));
  say(ranks[0], {.kind = Report::Kind::ready, .epoch = 1});
  pass(51, [&] {
    for (LineSocket& rank : ranks) say(rank, {.kind = Report::Kind::beat});
  });
  EXPECT_EQ(board.roster().phase(), Roster::Phase::relaunching);
  EXPECT_NE(board.roster().reason().find("2 of 3 ranks were not ready to begin"), std::string::npos);
}

TEST_F(Turns, ranks_that_do_not_get_ready_are_not_waited_for) {
  std::vector<LineSocket> ranks;
  begin(ranks);
  ranks[0] = LineSocket(Descriptor(), 0);
  say(ranks[1], {.kind = Report::Kind::ready, .epoch = 2});
  EXPECT_EQ(board.roster().phase(), Roster::Phase::mustering);
  pass(51, [&] {
    for (const int rank : {1, 2}) say(ranks[static_cast<std::size_t>(rank)], {.kind = Report::Kind::beat});
  });
  EXPECT_EQ(board.roster().phase(), Roster::Phase::relaunching);
  EXPECT_NE(board.roster().reason().find("rank 2 was not ready"), std::string::npos);
}

TEST_F(Turns, a_rank_that_ends_before_it_came_is_told_by_its_shield) {
  LineSocket first = peer(0, true), second = peer(1, true);
  say(first, {.kind = Report::Kind::died, .number = 2});
  EXPECT_EQ(board.roster().phase(), Roster::Phase::failing);
  EXPECT_EQ(board.roster().exit_code(), 2);
}

TEST_F(Turns, a_rank_killed_before_it_came_is_a_death) {
  LineSocket shield = peer(1, true);
  say(shield, {.kind = Report::Kind::died, .signal = 9});
  EXPECT_EQ(board.roster().phase(), Roster::Phase::relaunching);
  EXPECT_TRUE(told.mentions("rank 1 (pid 101, host here) died of"));
}

TEST_F(Turns, a_finished_rank_is_not_killed_by_its_shield) {
  std::vector<LineSocket> ranks;
  begin(ranks);
  LineSocket shield = peer(1, true);
  say(ranks[1], {.kind = Report::Kind::goodbye});
  ranks[1] = LineSocket(Descriptor(), 0);
  turn();
  EXPECT_TRUE(heard(shield).empty());
  EXPECT_EQ(board.roster().phase(), Roster::Phase::working);
  EXPECT_TRUE(told.chronicle.deaths().empty());
}

TEST_F(Turns, another_launch_forgets_the_one_before) {
  std::vector<LineSocket> ranks;
  begin(ranks);
  board.begin(1);
  EXPECT_TRUE(board.deserted());
  EXPECT_EQ(board.roster().phase(), Roster::Phase::starting);
  LineSocket late = peer(0);  // says that it belongs to launch 0
  late.receive();
  EXPECT_TRUE(late.broken());
}

TEST_F(Turns, when_all_are_gone_the_rest_is_dead) {
  std::vector<LineSocket> ranks;
  begin(ranks);
  board.all_gone("the test says so");
  EXPECT_TRUE(board.roster().ended());
  EXPECT_EQ(board.roster().phase(), Roster::Phase::relaunching);
}

}  // namespace
}  // namespace isobar::control::tests
