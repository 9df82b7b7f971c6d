#include "isobar/train/carried.hpp"

#include <gtest/gtest.h>

#include "isobar/comm/local_comm.hpp"

namespace isobar::train {
namespace {

// A rank that has finished a step: the weight says which, the statistics whose it is.
Carried at_step(std::int64_t step, int rank) {
  Carried carried;
  carried.has_state = true;
  carried.batch = 12;
  carried.members = {0, 1, 2};
  carried.state.position.step = step;
  carried.state.metrics = "{}\n";
  carried.state.parts = {{"weights/a", Shape{2, 1}, 0, 2}};
  carried.state.numbers = {static_cast<float>(step), 1};
  carried.state.statistics = {static_cast<float>(rank)};
  carried.state.lists = {{"updates", {static_cast<double>(step)}}};
  carried.state.own_arrays = {{"lost", {static_cast<float>(rank)}}};
  carried.recent.add(StepDone{.step = step});
  return carried;
}

TEST(Carried, TheStateOfTheOneAheadGoesToThoseBehindAndNew) {
  comm::run_ranks(4, [](comm::Comm& comm) {
    Carried mine;  // rank 3 is new
    if (comm.rank() < 3) mine = at_step(comm.rank() == 0 ? 6 : 7, comm.rank());
    if (comm.rank() == 2) mine.stopping = true;
    const Standing standing = compare(comm, mine);
    EXPECT_EQ(standing.ahead, 1);
    EXPECT_EQ(standing.behind, (std::vector{0, 3}));
    EXPECT_EQ(standing.batch, 12);
    EXPECT_TRUE(standing.stopping);
    share_state(comm, standing, mine);
    EXPECT_TRUE(mine.has_state);
    EXPECT_EQ(mine.state.position.step, 7);
    EXPECT_EQ(mine.state.numbers, (std::vector<float>{7, 1}));
    EXPECT_EQ(mine.state.parts.at(0).name, "weights/a");
    EXPECT_EQ(mine.state.parts.at(0).shape, (Shape{2, 1}));
    EXPECT_EQ(mine.state.metrics, "{}\n");
    EXPECT_EQ(mine.members, (std::vector{0, 1, 2}));
    EXPECT_EQ(mine.recent.steps().back().step, 7);
    ASSERT_EQ(mine.state.lists.size(), 1u);
    EXPECT_EQ(mine.state.lists[0].name, "updates");
    EXPECT_EQ(mine.state.lists[0].numbers, std::vector{7.0});
    // What a rank has for itself of an older step, or from another rank, does not count.
    const bool own = comm.rank() == 1 || comm.rank() == 2;
    EXPECT_EQ(mine.state.whose, own ? checkpoint::Snapshot::Whose::this_rank : checkpoint::Snapshot::Whose::nobody);
    EXPECT_EQ(mine.state.own_arrays.size(), own ? 1u : 0u);
    // A rank that was not behind keeps its own statistics.
    EXPECT_EQ(mine.state.statistics, std::vector<float>{comm.rank() == 2 ? 2.0f : 1.0f});
  });
}

TEST(Carried, EqualRanksSendNoWeights) {
  comm::run_ranks(3, [](comm::Comm& comm) {
    Carried mine = at_step(9, comm.rank());
    mine.state.numbers.resize(1 << 20);
    const Standing standing = compare(comm, mine);
    EXPECT_TRUE(standing.behind.empty());
    EXPECT_EQ(standing.ahead, 0);
    share_state(comm, standing, mine);
    EXPECT_LT(comm.traffic().bytes, 10'000);
    EXPECT_EQ(mine.state.statistics, std::vector<float>{static_cast<float>(comm.rank())});
  });
}

TEST(Carried, WhoWentBackIsAhead) {
  comm::run_ranks(2, [](comm::Comm& comm) {
    Carried mine = at_step(comm.rank() == 0 ? 100 : 60, comm.rank());
    if (comm.rank() == 1) mine.state.position.rewinds = 1;
    EXPECT_EQ(compare(comm, mine).ahead, 1);
  });
}

TEST(Carried, OfTwoThatFinishedTheSameStepTheOneThatEvaluatedIsAhead) {
  comm::run_ranks(2, [](comm::Comm& comm) {
    Carried mine = at_step(10, comm.rank());
    if (comm.rank() == 1) mine.state.position.epoch = 1;
    EXPECT_EQ(compare(comm, mine).ahead, 1);
  });
}

TEST(Carried, NobodyMayHaveAState) {
  comm::run_ranks(3, [](comm::Comm& comm) {
    Carried mine;
    if (comm.rank() == 2) mine.batch = 6;
    const Standing standing = compare(comm, mine);
    EXPECT_EQ(standing.ahead, -1);
    EXPECT_EQ(standing.batch, 6);
  });
}

}  // namespace
}  // namespace isobar::train
