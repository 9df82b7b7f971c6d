// Ranks as threads with real lifelines to a real switchboard over the loopback; a rank dies by dropping its lifeline.
#include "isobar/control/lifeline.hpp"

#include <future>
#include <memory>

#include <gtest/gtest.h>

#include "isobar/base/error.hpp"

#include "board.hpp"

namespace isobar::control::tests {
namespace {

using Kind = Order::Kind;
using Lines = std::vector<std::unique_ptr<Lifeline>>;

Lines connect(Board& board, int count) {
  Lines lines;
  for (int rank = 0; rank < count; ++rank) lines.push_back(std::make_unique<Lifeline>(rank, board.address()));
  return lines;
}

std::future<Order> ready(Lifeline& line) {
  return std::async(std::launch::async, [&line] { return line.await_order(line.epoch()); });
}

// Forms the first group, without the spares.
void begin(Lines& lines, int ranks, std::vector<std::future<Order>>& waiting) {
  std::vector<std::future<Order>> orders;
  for (auto& line : lines) orders.push_back(ready(*line));
  for (int rank = 0; rank < static_cast<int>(lines.size()); ++rank) {
    if (rank >= ranks) {
      waiting.push_back(std::move(orders[static_cast<std::size_t>(rank)]));
      continue;
    }
    const Order order = orders[static_cast<std::size_t>(rank)].get();
    EXPECT_EQ(order.kind, Kind::go);
    EXPECT_EQ(order.epoch, 1u);
    EXPECT_EQ(static_cast<int>(order.members.size()), ranks);
  }
}

TEST(Lifeline, without_a_launcher_there_is_none) {
  std::uint16_t port = 0;
  {
    Board board(1, 0);
    port = board.address().port;
  }
  EXPECT_THROW(Lifeline(0, {"127.0.0.1", port, "secret"}), Error);
}

TEST(Lifeline, a_wrong_token_or_a_taken_number_is_not_let_in) {
  Board board(2, 0);
  Address wrong = board.address();
  wrong.token = "guess";
  EXPECT_THROW(Lifeline(0, wrong), Error);
  const Lifeline first(0, board.address());
  EXPECT_THROW(Lifeline(0, board.address()), Error);
  EXPECT_THROW(Lifeline(2, board.address()), Error);
  EXPECT_FALSE(first.lost());
}

TEST(Lifeline, survivors_and_a_spare_go_on_after_a_death) {
  Board board(3, 1);
  Lines lines = connect(board, 4);
  std::vector<std::future<Order>> spares;
  begin(lines, 3, spares);
  lines[0]->progress(7);
  lines[1]->note("step 8: gradients 3 of 7");
  lines[1].reset();
  auto first = ready(*lines[0]), third = ready(*lines[2]);
  for (Order order : {first.get(), third.get(), spares[0].get()}) {
    EXPECT_EQ(order.kind, Kind::go);
    EXPECT_EQ(order.epoch, 2u);
    EXPECT_EQ(order.members, (std::vector<int>{0, 2, 3}));
  }
  EXPECT_EQ(lines[3]->dead(), std::vector<int>{1});
  lines[2]->progress(8);
  EXPECT_TRUE(
      board.wait_until([](auto&, Told& told) { return told.mentions("3 ranks go on, rank 3 takes its place"); }));
  board.with([](auto&, Told& told) {
    const Death& death = told.chronicle.deaths().at(0);
    EXPECT_EQ(death.before, 7);
    EXPECT_EQ(death.after, 8);
    EXPECT_GE(death.seconds, 0);
  });
}

TEST(Lifeline, the_epoch_moves_without_being_asked) {
  Board board(3, 0);
  Lines lines = connect(board, 3);
  std::vector<std::future<Order>> none;
  begin(lines, 3, none);
  lines[2].reset();
  while (lines[0]->epoch() == 1) std::this_thread::yield();
  EXPECT_EQ(lines[0]->epoch(), 2u);
  auto waiting = ready(*lines[0]);
  lines[1].reset();  // before it is ready: the one that waits continues alone
  const Order order = waiting.get();
  EXPECT_EQ(order.kind, Kind::go);
  EXPECT_EQ(order.members, std::vector<int>{0});
}

TEST(Lifeline, the_first_failure_is_told_to_all_and_ends_waiting) {
  Board board(2, 1);
  Lines lines = connect(board, 3);
  std::vector<std::future<Order>> spares;
  begin(lines, 2, spares);
  EXPECT_TRUE(lines[1]->fail("a.h5: no such file"));
  EXPECT_EQ(spares[0].get().kind, Kind::over);
  EXPECT_EQ(lines[2]->failure(), std::pair(1, std::string("a.h5: no such file")));
  EXPECT_FALSE(lines[0]->fail("follows from it"));
  EXPECT_TRUE(lines[1]->fail("again")) << "the first was its own";
  lines[1]->goodbye(1);
  lines[0]->goodbye(1);
  lines[2]->goodbye(1);
  EXPECT_TRUE(board.wait_until([](Switchboard& it, auto&) { return it.roster().ended(); }));
  board.with([](Switchboard& it, Told& told) {
    EXPECT_EQ(it.roster().exit_code(), 1);
    EXPECT_TRUE(told.chronicle.deaths().empty());
  });
}

TEST(Lifeline, spares_are_released_when_the_work_is_over) {
  Board board(2, 1);
  Lines lines = connect(board, 3);
  std::vector<std::future<Order>> spares;
  begin(lines, 2, spares);
  auto second = std::async(std::launch::async, [&] { lines[1]->goodbye(0); });
  lines[0]->goodbye(0);
  second.get();
  EXPECT_EQ(spares[0].get().kind, Kind::over);
  lines[2]->goodbye(0);
  EXPECT_TRUE(board.wait_until([](Switchboard& it, auto&) { return it.roster().ended(); }));
  EXPECT_EQ(board.with([](Switchboard& it, auto&) { return it.roster().exit_code(); }), 0);
}

TEST(Lifeline, who_gives_up_sends_all_into_a_relaunch) {
  Board board(2, 1);
  Lines lines = connect(board, 3);
  std::vector<std::future<Order>> spares;
  begin(lines, 2, spares);
  lines[0]->give_up("no rank has the state");
  EXPECT_EQ(spares[0].get().kind, Kind::relaunch);
  while (lines[1]->epoch() == 1) std::this_thread::yield();
  EXPECT_EQ(lines[1]->await_order(1).kind, Kind::relaunch);
}

TEST(Lifeline, a_launcher_that_is_gone_is_noticed_by_all_who_wait) {
  auto board = std::make_unique<Board>(3, 0);
  Lines lines = connect(*board, 3);
  std::atomic<int> stops = 0;
  for (auto& line : lines) line->on_stop([&] { ++stops; });
  auto waiting = ready(*lines[0]);
  auto leaving = std::async(std::launch::async, [&] { lines[1]->goodbye(0); });
  board.reset();
  EXPECT_EQ(waiting.get().kind, Kind::over);
  leaving.get();
  while (stops < 3) std::this_thread::yield();
  for (auto& line : lines) EXPECT_TRUE(line->lost());
  EXPECT_EQ(lines[2]->await_order(1).kind, Kind::over);
  EXPECT_TRUE(lines[2]->fail("alone")) << "nobody else can be told";
  lines[0]->on_stop([&] { ++stops; });
  EXPECT_EQ(stops, 4) << "at once when it is too late";
}

TEST(Lifeline, a_signal_to_stop_reaches_every_rank_also_one_that_comes_later) {
  Board board(2, 0);
  Lifeline first(0, board.address());
  std::promise<void> told, told_later;
  first.on_stop([&] { told.set_value(); });
  board.with([](Switchboard& it, auto&) { it.stop(); });
  told.get_future().get();
  Lifeline second(1, board.address());
  second.on_stop([&] { told_later.set_value(); });
  told_later.get_future().get();
  EXPECT_FALSE(first.lost());
}

TEST(Lifeline, ranks_can_ask_what_others_are_doing) {
  Board board(3, 0);
  Lines lines = connect(board, 3);
  lines[1]->note("step 3: reading");
  std::vector<std::optional<std::string>> notes;
  while (notes.empty() || notes[1] != "step 3: reading") notes = lines[0]->whereabouts(1);
  ASSERT_EQ(notes.size(), 3u);
  EXPECT_EQ(notes[1], "step 3: reading");
  lines[1].reset();
  while (lines[0]->dead().empty()) std::this_thread::yield();
  EXPECT_FALSE(lines[0]->whereabouts(1)[1]);
}

}  // namespace
}  // namespace isobar::control::tests
