#include "isobar/checkpoint/snapshot.hpp"

#include <gtest/gtest.h>

#include "isobar/base/error.hpp"

#include "tests/checkpoint/small_network.hpp"
#include "tests/expect_error.hpp"

namespace isobar::checkpoint {
namespace {

using namespace isobar::tests;

exec::ParamStore store_for(const SmallNetwork& network, int slots) {
  return exec::ParamStore(graph::make_plan(small_network(2, network)), slots);
}

std::vector<float> all(const exec::ParamStore& store) {
  const auto weights = store.all_weights();
  return {weights.begin(), weights.end()};
}

// What a strategy has for itself on each rank, and what it has under way.
exec::StateBlocks own_state(std::vector<double>& own) {
  return {{.name = "own", .content = std::span(own), .scope = exec::StateBlock::Scope::each_rank, .may_drop = true}};
}
exec::StateBlocks state_under_way(const char* name, std::vector<float>& block, std::vector<double>& numbers,
                                  bool in_use = true) {
  return {{.name = name, .content = std::span(block), .in_use = in_use},
          {.name = "numbers", .content = std::span(numbers), .in_use = in_use}};
}

TEST(Snapshot, BringsBackEveryNumber) {
  exec::ParamStore a = store_for({.norm = true}, 2), b = store_for({.norm = true}, 2);
  a.initialize(3);
  for (int p = 0; p < a.count(); ++p)
    for (float& v : a.slot(p, 1)) v = static_cast<float>(p) + 0.25f;
  Snapshot snapshot;
  snapshot.recipe = "stays";
  std::vector<double> own{7}, own_back{0};
  take_snapshot(snapshot, a, {.step = 17, .rate_scale = 0.5}, own_state(own));
  EXPECT_EQ(snapshot.position.step, 17);
  EXPECT_EQ(snapshot.position.rate_scale, 0.5);
  EXPECT_EQ(snapshot.recipe, "stays");
  EXPECT_EQ(snapshot.bytes(), snapshot_bytes(a, own_state(own), 1));
  restore(snapshot, b, own_state(own_back));
  EXPECT_EQ(all(a), all(b));
  EXPECT_EQ(own_back, own);
  for (int p = 0; p < a.count(); ++p) EXPECT_TRUE(std::ranges::equal(a.slot(p, 1), b.slot(p, 1)));

  // A second snapshot into the same memory.
  const float* const memory = snapshot.numbers.data();
  take_snapshot(snapshot, a, {.step = 18}, own_state(own));
  EXPECT_EQ(snapshot.numbers.data(), memory);
  EXPECT_EQ(snapshot.position.step, 18);
}

TEST(Snapshot, GivesEachRankItsOwnStatisticsWhenThereAreAsMany) {
  exec::ParamStore store = store_for({.norm = true}, 0);
  store.initialize(3);
  std::vector<double> own{5};
  Snapshot snapshot;
  take_snapshot(snapshot, store, {}, own_state(own));
  const std::vector<float> settled = own_statistics(store);
  ASSERT_FALSE(settled.empty());
  snapshot.ranks = 2;
  std::vector<float> first(settled.size(), 1), second(settled.size(), 2);
  snapshot.statistics = first;
  snapshot.statistics.insert(snapshot.statistics.end(), second.begin(), second.end());
  snapshot.own_numbers = {11, 12};
  restore(snapshot, store, own_state(own), 1, 2);
  EXPECT_EQ(own_statistics(store), second);
  EXPECT_EQ(own[0], 12);
  restore(snapshot, store, own_state(own), 0, 1);
  EXPECT_EQ(own_statistics(store), settled);
  EXPECT_EQ(own[0], 0);
}

TEST(Snapshot, ChangesNothingWhereItDoesNotFit) {
  const exec::ParamStore store = store_for({}, 2);
  Snapshot snapshot;
  take_snapshot(snapshot, store, {}, {});
  snapshot.origin = "checkpoint 'a'";
  exec::ParamStore other_size = store_for({.hidden = 9}, 2), other_rule = store_for({}, 1),
                   other_weights = store_for({.norm = true}, 2);
  for (exec::ParamStore* other : {&other_size, &other_rule, &other_weights}) {
    other->initialize(4);
    const std::vector<float> before = all(*other);
    EXPECT_THROW(restore(snapshot, *other, {}), Error);
    EXPECT_EQ(all(*other), before);
  }
  EXPECT_THROW(restore_weights(snapshot, other_size), Error);
  restore_weights(snapshot, other_rule);
  EXPECT_EQ(all(other_rule), all(store));
}

TEST(Snapshot, HoldsWhatAStrategyHasUnderWay) {
  exec::ParamStore a = store_for({}, 0), b = store_for({}, 0);
  std::vector<float> block(a.all_gradients().size()), back(block.size());
  std::vector<double> numbers{3, 0.1}, numbers_back(2);
  for (int p = 0; p < a.count(); ++p)
    for (std::size_t i = 0; i < a.gradient(p).size(); ++i) block[a.offset(p) + i] = static_cast<float>(i + 1);
  const exec::StateBlocks kept = state_under_way("pending", block, numbers);
  const exec::StateBlocks kept_back = state_under_way("pending", back, numbers_back);
  Snapshot snapshot;
  take_snapshot(snapshot, a, {}, kept);
  restore(snapshot, b, kept_back);
  EXPECT_EQ(back, block);
  EXPECT_EQ(numbers_back, numbers);
  EXPECT_THROW(restore(snapshot, b, {}), Error);  // a strategy that knows nothing of it
  EXPECT_THROW(restore(snapshot, b, state_under_way("other", back, numbers_back)), Error);

  // Nothing in progress: any strategy may continue, and one that keeps something begins with zeros.
  take_snapshot(snapshot, a, {}, state_under_way("pending", block, numbers, false));
  EXPECT_EQ(snapshot.bytes(), snapshot_bytes(a, {}, 1));
  restore(snapshot, b, {});
  std::vector<double> others(3, 5);
  restore(snapshot, b, state_under_way("pending", back, others));
  EXPECT_EQ(back, std::vector<float>(block.size()));
  EXPECT_EQ(others, std::vector<double>(3));
}

TEST(Snapshot, AFinishedEpochKeepsWhatIsCountedOverTheRun) {
  Position position{.step = 9,
                    .epoch = 1,
                    .step_in_epoch = 4,
                    .loss_sum = 2,
                    .loss_samples = 16,
                    .skipped = 1,
                    .batch = 4,
                    .rows = 2,
                    .rate_scale = 0.5,
                    .bad_steps = 3,
                    .rewinds = 1};
  position.finish_epoch();
  EXPECT_EQ(position,
            (Position{.step = 9, .epoch = 2, .batch = 4, .rows = 2, .rate_scale = 0.5, .bad_steps = 3, .rewinds = 1}));
}

}  // namespace
}  // namespace isobar::checkpoint
