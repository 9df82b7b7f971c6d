// The launcher's decisions without sockets and clocks: which notices every event sends to which ranks.
#include "isobar/control/roster.hpp"

#include <gtest/gtest.h>

namespace isobar::control {
namespace {

using RosterKind = Notice::Kind;
using Phase = Roster::Phase;
using State = Roster::State;

// The notice of this kind, if there is one.
const Action* find(const Actions& actions, RosterKind kind) {
  for (const Action& action : actions)
    if (action.notice.kind == kind) return &action;
  return nullptr;
}

using Ranks = std::vector<int>;

Actions all_ready(Roster& roster) {
  Actions last;
  for (const int rank : roster.in(State::busy)) last = roster.ready(rank, roster.epoch());
  return last;
}

Roster at_work(int ranks, int spares, int least = 1) {
  Roster roster({ranks, spares, least});
  for (int rank = 0; rank < ranks + spares; ++rank) EXPECT_TRUE(roster.join(rank));
  EXPECT_TRUE(find(all_ready(roster), RosterKind::go));
  EXPECT_EQ(roster.phase(), Phase::working);
  return roster;
}

TEST(Roster, goes_when_all_have_come_and_are_ready) {
  Roster roster({2, 1, 1});
  const auto welcome = roster.join(0);
  ASSERT_TRUE(welcome);
  EXPECT_EQ(welcome->at(0).notice.kind, RosterKind::welcome);
  EXPECT_EQ(welcome->at(0).notice.rank, 3);
  EXPECT_EQ(welcome->at(0).notice.epoch, 1u);
  EXPECT_TRUE(roster.ready(0, 1).empty());
  roster.join(1);
  EXPECT_TRUE(roster.ready(1, 1).empty()) << "the spare is not there";
  roster.join(2);
  const Actions go = roster.ready(2, 1);
  ASSERT_TRUE(find(go, RosterKind::go));
  EXPECT_EQ(find(go, RosterKind::go)->notice.members, (Ranks{0, 1}));
  EXPECT_EQ(find(go, RosterKind::go)->to, (Ranks{0, 1}));
  EXPECT_EQ(roster.state(2), State::standing_by);
}

TEST(Roster, refuses_a_rank_that_is_there_or_cannot_be) {
  Roster roster({2, 0, 1});
  EXPECT_TRUE(roster.join(0));
  EXPECT_FALSE(roster.join(0));
  EXPECT_FALSE(roster.join(2));
  EXPECT_FALSE(roster.join(-1));
}

TEST(Roster, the_survivors_go_on_in_their_order) {
  Roster roster = at_work(4, 0);
  const Actions told = roster.die(1);
  ASSERT_TRUE(find(told, RosterKind::dead));
  EXPECT_EQ(find(told, RosterKind::dead)->notice.rank, 1);
  EXPECT_EQ(find(told, RosterKind::dead)->notice.epoch, 2u);
  EXPECT_EQ(find(told, RosterKind::dead)->to, (Ranks{0, 2, 3}));
  EXPECT_TRUE(roster.ready(0, 2).empty());
  EXPECT_TRUE(roster.ready(2, 2).empty());
  const Actions go = roster.ready(3, 2);
  ASSERT_TRUE(find(go, RosterKind::go));
  EXPECT_EQ(find(go, RosterKind::go)->notice.members, (Ranks{0, 2, 3}));
  EXPECT_EQ(find(go, RosterKind::go)->notice.epoch, 2u);
}

TEST(Roster, a_spare_takes_the_last_place) {
  Roster roster = at_work(4, 1);
  roster.die(0);
  const Actions go = all_ready(roster);
  ASSERT_TRUE(find(go, RosterKind::go));
  EXPECT_EQ(find(go, RosterKind::go)->notice.members, (Ranks{1, 2, 3, 4})) << "those with the state come first";
  roster.die(2);
  EXPECT_EQ(find(all_ready(roster), RosterKind::go)->notice.members, (Ranks{1, 3, 4}));
}

TEST(Roster, those_who_have_worked_come_before_those_who_have_not) {
  Roster roster = at_work(2, 2);
  roster.die(1);
  all_ready(roster);  // 0, 2 at work, 3 stands by
  EXPECT_EQ(roster.members(), (Ranks{0, 2}));
  roster.die(0);
  all_ready(roster);
  EXPECT_EQ(roster.members(), (Ranks{2, 3}));
}

TEST(Roster, a_second_death_before_all_are_ready_moves_no_epoch) {
  Roster roster = at_work(4, 0);
  roster.die(1);
  roster.ready(0, 2);
  const Actions told = roster.die(3);  // had not reported ready
  EXPECT_FALSE(find(told, RosterKind::dead));
  ASSERT_TRUE(find(told, RosterKind::gone));
  EXPECT_EQ(find(told, RosterKind::gone)->to, (Ranks{0, 2}));
  EXPECT_EQ(roster.epoch(), 2u);
  EXPECT_EQ(find(roster.ready(2, 2), RosterKind::go)->notice.members, (Ranks{0, 2}));
}

TEST(Roster, the_death_of_one_that_is_ready_lets_the_others_go) {
  Roster roster = at_work(3, 0);
  roster.die(1);
  roster.ready(0, 2);
  roster.die(0);
  EXPECT_EQ(find(roster.ready(2, 2), RosterKind::go)->notice.members, (Ranks{2}));
  Roster other = at_work(3, 0);
  other.die(1);
  other.ready(0, 2);
  const Actions go = other.die(2);  // the only one the others waited for
  ASSERT_TRUE(find(go, RosterKind::go));
  EXPECT_EQ(find(go, RosterKind::go)->to, (Ranks{0}));
}

TEST(Roster, a_death_right_after_go_starts_another_epoch) {
  Roster roster = at_work(4, 0);
  roster.die(1);
  all_ready(roster);
  EXPECT_EQ(find(roster.die(2), RosterKind::dead)->notice.epoch, 3u);
  EXPECT_TRUE(roster.ready(0, 2).empty()) << "ready for an epoch that is gone";
  EXPECT_TRUE(roster.ready(3, 3).empty());
  EXPECT_EQ(find(roster.ready(0, 3), RosterKind::go)->notice.members, (Ranks{0, 3}));
}

TEST(Roster, the_death_of_a_spare_disturbs_nobody) {
  Roster roster = at_work(2, 1);
  const Actions told = roster.die(2);
  EXPECT_FALSE(find(told, RosterKind::dead));
  EXPECT_EQ(find(told, RosterKind::gone)->notice.rank, 2);
  EXPECT_EQ(roster.phase(), Phase::working);
  EXPECT_EQ(roster.epoch(), 1u);
}

TEST(Roster, a_member_that_stands_by_dies_quietly_and_is_called_when_needed) {
  Roster roster = at_work(3, 0);
  EXPECT_TRUE(roster.ready(2, 1).empty());  // two of three can work together
  EXPECT_EQ(roster.state(2), State::standing_by);
  Roster other = roster;
  EXPECT_FALSE(find(other.die(2), RosterKind::dead));
  roster.die(1);
  all_ready(roster);
  EXPECT_EQ(roster.members(), (Ranks{0, 2}));
}

TEST(Roster, a_rank_that_works_alone_is_not_missed) {
  Roster roster = at_work(4, 1);
  roster.alone(2);
  const Actions actions = roster.die(2);
  ASSERT_EQ(actions.size(), 1u);
  EXPECT_EQ(actions[0].notice.kind, RosterKind::gone);
  EXPECT_EQ(actions[0].notice.rank, 2);
  EXPECT_EQ(actions[0].to, (Ranks{0, 1, 3, 4}));
  EXPECT_EQ(roster.epoch(), 1u);
  EXPECT_EQ(roster.phase(), Phase::working);
  // The others are still needed by all.
  EXPECT_TRUE(find(roster.die(3), RosterKind::dead));
  EXPECT_EQ(roster.epoch(), 2u);
}

TEST(Roster, too_few_ranks_are_a_relaunch) {
  Roster roster = at_work(4, 0, 3);
  EXPECT_FALSE(find(roster.die(0), RosterKind::relaunch));
  all_ready(roster);
  const Actions told = roster.die(1);
  ASSERT_TRUE(find(told, RosterKind::relaunch));
  EXPECT_EQ(find(told, RosterKind::relaunch)->to, (Ranks{2, 3}));
  EXPECT_GT(find(told, RosterKind::relaunch)->notice.epoch, 2u);
  EXPECT_EQ(roster.phase(), Phase::relaunching);
  EXPECT_NE(roster.reason().find("--min-ranks asks for 3"), std::string::npos);
  EXPECT_TRUE(find(roster.goodbye(2, 1), RosterKind::leave));
  EXPECT_FALSE(roster.ended());
  roster.die(3);
  EXPECT_TRUE(roster.ended());
}

TEST(Roster, the_last_death_is_a_relaunch) {
  Roster roster = at_work(1, 0);
  roster.die(0);
  EXPECT_EQ(roster.phase(), Phase::relaunching);
  EXPECT_TRUE(roster.ended());
}

TEST(Roster, a_death_before_all_were_ready_is_a_relaunch) {
  Roster roster({2, 0, 1});
  roster.join(0);
  roster.ready(0, 1);
  EXPECT_TRUE(find(roster.die(1), RosterKind::relaunch)) << "never said hello";
  EXPECT_EQ(roster.phase(), Phase::relaunching);
}

TEST(Roster, who_gives_up_makes_all_start_anew) {
  Roster roster = at_work(3, 1);
  const Actions told = roster.give_up(1, "lagged gradients are lost");
  ASSERT_TRUE(find(told, RosterKind::relaunch));
  EXPECT_EQ(find(told, RosterKind::relaunch)->to, (Ranks{0, 1, 2, 3}));
  EXPECT_EQ(roster.epoch(), 2u);
  EXPECT_EQ(roster.reason(), "rank 1: lagged gradients are lost");
  EXPECT_TRUE(roster.give_up(2, "I too").empty());
  const Actions answer = roster.fail(2, "follows from it");
  EXPECT_EQ(find(answer, RosterKind::failure)->notice.rank, -1) << "is not the first";
  EXPECT_EQ(roster.phase(), Phase::relaunching);
}

TEST(Roster, a_failure_ends_all_and_there_is_no_recovery) {
  Roster roster = at_work(3, 1);
  const Actions told = roster.fail(2, "no such file");
  ASSERT_TRUE(find(told, RosterKind::failure));
  EXPECT_EQ(find(told, RosterKind::failure)->to, (Ranks{0, 1, 2, 3}));
  const Actions second = roster.fail(0, "mine");
  EXPECT_EQ(find(second, RosterKind::failure)->notice.rank, 2);
  EXPECT_FALSE(find(roster.die(1), RosterKind::dead));
  EXPECT_TRUE(find(roster.goodbye(0, 1), RosterKind::leave));
  EXPECT_TRUE(find(roster.goodbye(2, 2), RosterKind::leave));
  EXPECT_TRUE(find(roster.goodbye(3, 1), RosterKind::leave));
  EXPECT_TRUE(roster.ended());
  EXPECT_EQ(roster.exit_code(), 2) << "that of the rank that failed";
}

TEST(Roster, an_exit_code_without_words_is_a_failure) {
  Roster roster({2, 0, 1});
  const Actions told = roster.goodbye(1, 2);  // a wrong call: never said hello
  EXPECT_EQ(roster.phase(), Phase::failing);
  EXPECT_TRUE(find(told, RosterKind::leave));
  roster.goodbye(0, 2);
  EXPECT_TRUE(roster.ended());
  EXPECT_EQ(roster.exit_code(), 2);
}

TEST(Roster, the_work_is_over_when_the_first_member_says_so) {
  Roster roster = at_work(3, 1);
  EXPECT_TRUE(roster.goodbye(1, 0).empty()) << "waits for the first, which writes the last checkpoint";
  const Actions told = roster.goodbye(0, 0);
  EXPECT_EQ(find(told, RosterKind::leave)->to, (Ranks{0, 1}));
  EXPECT_EQ(find(told, RosterKind::over)->to, (Ranks{3}));
  EXPECT_TRUE(find(roster.goodbye(2, 0), RosterKind::leave));
  EXPECT_FALSE(roster.ended());
  roster.goodbye(3, 0);
  EXPECT_TRUE(roster.ended());
  EXPECT_EQ(roster.exit_code(), 0);
}

TEST(Roster, a_stopped_run_ends_with_its_code) {
  Roster roster = at_work(2, 0);
  roster.goodbye(1, 130);
  roster.goodbye(0, 130);
  EXPECT_TRUE(roster.ended());
  EXPECT_EQ(roster.phase(), Phase::over);
  EXPECT_EQ(roster.exit_code(), 130);
}

TEST(Roster, deaths_after_the_end_disturb_nobody) {
  Roster roster = at_work(4, 0);
  roster.goodbye(2, 0);
  EXPECT_TRUE(roster.die(2).empty()) << "had said goodbye";
  EXPECT_EQ(roster.epoch(), 1u);
  roster.goodbye(0, 0);
  const Actions told = roster.die(1);  // rank 3 might wait for it, and must not wait forever
  EXPECT_EQ(find(told, RosterKind::dead)->to, (Ranks{0, 3}));
  EXPECT_TRUE(find(roster.ready(3, 2), RosterKind::over));
  roster.goodbye(3, 0);
  EXPECT_TRUE(roster.ended());
  EXPECT_EQ(roster.exit_code(), 0);
}

TEST(Roster, who_is_left_ends_the_work_that_others_have_ended) {
  Roster roster = at_work(3, 0, 3);
  roster.goodbye(1, 0);
  EXPECT_TRUE(find(roster.die(2), RosterKind::dead));
  const Actions go = roster.ready(0, 2);
  EXPECT_EQ(find(go, RosterKind::go)->notice.members, (Ranks{0}));
  roster.goodbye(0, 0);
  EXPECT_EQ(roster.exit_code(), 0);
  EXPECT_EQ(roster.phase(), Phase::over);
}

TEST(Roster, the_first_member_dying_last_is_a_relaunch) {
  Roster roster = at_work(2, 0);
  roster.goodbye(1, 0);
  const Actions told = roster.die(0);  // in its last checkpoint
  EXPECT_EQ(roster.phase(), Phase::relaunching);
  EXPECT_EQ(find(told, RosterKind::leave)->to, (Ranks{1}));
}

}  // namespace
}  // namespace isobar::control
