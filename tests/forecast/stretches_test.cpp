#include "isobar/forecast/stretches.hpp"

#include <gtest/gtest.h>

#include "tests/forecast/made_scenario.hpp"

namespace isobar::forecast {
namespace {

TEST(Stretches, JoinKernelsUpToFinalGradients) {
  std::vector<sim::Stretch> stretches;
  add_kernel(stretches, 1);
  add_kernel(stretches, 2);
  add_kernel(stretches, 4, {0, 1});
  add_kernel(stretches, 8);
  add_kernel(stretches, 16, {2});
  add_kernel(stretches, 32);
  ASSERT_EQ(stretches.size(), 3u);
  EXPECT_EQ(stretches[0].seconds, 7);
  EXPECT_EQ(stretches[0].final_parameters, (std::vector<int>{0, 1}));
  EXPECT_EQ(stretches[1].seconds, 24);
  EXPECT_EQ(stretches[2].seconds, 32);
  EXPECT_TRUE(stretches[2].final_parameters.empty());
}

TEST(Stretches, EndWhereMessagesBeginOrEnd) {
  std::vector<sim::Stretch> stretches;
  add_kernel(stretches, 1);
  add_kernel(stretches, 0, {}, ops::Talk{.phase = ops::Talk::Phase::start, .number = 3});
  add_kernel(stretches, 2);
  add_kernel(stretches, 0, {}, ops::Talk{.phase = ops::Talk::Phase::finish, .number = 3});
  add_kernel(stretches, 0, {}, ops::Talk{.phase = ops::Talk::Phase::start, .number = 4});
  ASSERT_EQ(stretches.size(), 3u);
  EXPECT_EQ(stretches[0].seconds, 1);
  EXPECT_EQ(stretches[0].talk->number, 3);
  EXPECT_EQ(stretches[1].seconds, 2);
  EXPECT_EQ(stretches[1].talk->phase, ops::Talk::Phase::finish);
  EXPECT_EQ(stretches[2].talk->number, 4);
}

// Activations are those of fewer samples, moments are as many as before.
TEST(Stretches, MessagesGrowWithTheBatch) {
  using comm::Move;
  sim::Workload w = made_workload();
  const comm::Schedule moves = {{{Move::Kind::send, 1, {100, 40}}, {Move::Kind::receive, 1, {140, 61}}}};
  w.forward[0].talk = ops::Talk{.moves = moves};
  w.backward[0].talk = ops::Talk{.moves = moves, .type = ops::Talk::Type::doubles};
  const sim::Workload half = with_batch(w, 2);
  const comm::Round& fewer = half.forward[0].talk->moves[0];
  EXPECT_EQ(fewer[0].range, (comm::Range{50, 20}));
  EXPECT_EQ(fewer[1].range, (comm::Range{70, 31}));
  EXPECT_EQ(half.backward[0].talk->moves[0][1].range.count, 61u);
}

TEST(Stretches, GradientsBeginOnCacheLines) {
  EXPECT_EQ(gradient_room(1), 16u);
  EXPECT_EQ(gradient_room(16), 16u);
  EXPECT_EQ(gradient_room(17), 32u);
}

TEST(Stretches, AnotherBatchChangesComputingAndNotUpdates) {
  const sim::Workload w = made_workload(), half = with_batch(w, 2);
  EXPECT_EQ(half.batch, 2);
  EXPECT_DOUBLE_EQ(half.flops, w.flops / 2);
  EXPECT_DOUBLE_EQ(half.compute_seconds(), 0.09 / 2 + 0.01);
  const sim::Workload uneven = with_batch(w, 1.5);
  EXPECT_EQ(uneven.batch, 2);
  EXPECT_DOUBLE_EQ(uneven.sample_bytes * 2, w.sample_bytes * 1.5) << "a rank reads 1.5 samples on average";
  EXPECT_DOUBLE_EQ(uneven.compute_seconds(), 0.09 * 1.5 / 4 + 0.01);
}

}  // namespace
}  // namespace isobar::forecast
