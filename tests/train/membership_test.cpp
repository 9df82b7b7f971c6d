// What goes from one group of ranks to the next. Runs in which ranks really die are in sessions_test.cpp.
#include "isobar/train/membership.hpp"

#include <gtest/gtest.h>

#include "isobar/comm/local_comm.hpp"

namespace isobar::train {
namespace {

checkpoint::Snapshot state_at(std::int64_t step) {
  checkpoint::Snapshot state;
  state.position.step = step;
  state.numbers = {static_cast<float>(step)};
  return state;
}

TEST(Membership, WithoutAnythingCarriedNothingIsKept) {
  const auto alone = comm::alone();
  Membership members(*alone, *alone, nullptr);
  EXPECT_EQ(members.batch(), 0);
  EXPECT_FALSE(members.has_state());
  members.note_batch(8);
  members.opened(3);
  members.note(StepDone{});
  members.leave([](checkpoint::Snapshot&) { FAIL() << "nobody takes it"; }, {}, true);
  EXPECT_TRUE(members.changes().empty());
  EXPECT_EQ(members.before().skipped, 0);
}

TEST(Membership, WhatOneGroupLeavesTheNextGoesOnFrom) {
  Carried carried;
  const auto alone = comm::alone();
  {
    Membership first(*alone, *alone, &carried);
    EXPECT_FALSE(first.has_state());
    first.note_batch(8);
    first.opened(0);
    first.leave([](checkpoint::Snapshot& into) { into = state_at(5); }, {.seconds = 2, .step_seconds = 1, .skipped = 3},
                true);
  }
  Membership second(*alone, *alone, &carried);
  EXPECT_EQ(second.batch(), 8);
  EXPECT_TRUE(second.has_state());
  EXPECT_TRUE(second.was_stopping());
  EXPECT_EQ(second.take_state().position.step, 5);
  second.opened(5);
  ASSERT_EQ(second.changes().size(), 1u);
  EXPECT_EQ(second.changes()[0].step, 5);
  EXPECT_EQ(second.before().seconds, 2);
  EXPECT_EQ(second.before().skipped, 3);
  EXPECT_TRUE(carried.state.numbers.empty()) << "it is in the model now";
}

TEST(Membership, WhoHasNoStateYetLeavesNone) {
  Carried carried;
  const auto alone = comm::alone();
  Membership members(*alone, *alone, &carried);
  members.leave(nullptr, {.seconds = 2}, false);
  EXPECT_FALSE(carried.has_state);
  EXPECT_EQ(carried.seconds, 0);
  EXPECT_GT(carried.noticed, 0);
}

TEST(Membership, AllGetTheNewestState) {
  comm::run_ranks(3, [](comm::Comm& world) {
    Carried carried;
    carried.has_state = world.rank() > 0;
    if (carried.has_state) carried.state = state_at(world.rank() == 2 ? 7 : 6);
    Membership members(world, world, &carried);
    EXPECT_TRUE(members.has_state());
    EXPECT_EQ(members.take_state().position.step, 7);
    EXPECT_EQ(carried.state.numbers, std::vector{7.0f});
  });
}

}  // namespace
}  // namespace isobar::train
