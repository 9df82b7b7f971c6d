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
  return {{"own", std::span(own), exec::StateBlock::Scope::each_rank}};
}
exec::StateBlocks state_under_way(const char* name, std::vector<float>& block, std::vector<double>& numbers) {
  return {{name, std::span(block)}, {"numbers", std::span(numbers)}};
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
  std::ranges::fill(numbers, 0.0);
  take_snapshot(snapshot, a, {}, kept);
  restore(snapshot, b, {});
  std::vector<float> untouched(block.size(), 0);
  std::vector<double> zeros(2);
  restore(snapshot, b, state_under_way("pending", untouched, zeros));
  EXPECT_EQ(untouched, std::vector<float>(block.size(), 0));
}

// Arrays that each rank has for itself: two ranks wrote them, and one, two or three go on.
TEST(Snapshot, OwnArraysAreKeptOrMerged) {
  exec::ParamStore store = store_for({}, 0);
  const std::size_t count = store.all_gradients().size();
  std::vector<float> lost(count), other(count);
  const exec::StateBlocks state = {
      {"lost", std::span(lost), exec::StateBlock::Scope::each_rank, exec::StateBlock::Merge::sum},
      {"other", std::span(other), exec::StateBlock::Scope::each_rank, exec::StateBlock::Merge::zero}};
  std::vector<float> plain(plain_array(store, lost).size(), 3);
  set_plain_array(store, plain, lost);
  set_plain_array(store, plain, other);
  Snapshot snapshot;
  take_snapshot(snapshot, store, {}, state);
  EXPECT_EQ(snapshot.bytes(), snapshot_bytes(store, state, 1));
  snapshot.ranks = 2;
  for (Snapshot::OwnArray& array : snapshot.own_arrays) {
    ASSERT_EQ(array.numbers, plain);
    array.numbers.resize(2 * plain.size(), 5);
  }
  const auto after = [&](int rank, int ranks) {
    restore(snapshot, store, state, rank, ranks);
    const std::vector<float> a = plain_array(store, lost), b = plain_array(store, other);
    EXPECT_EQ(a, std::vector<float>(a.size(), a[0]));
    EXPECT_EQ(b, std::vector<float>(b.size(), b[0]));
    return std::pair(a[0], b[0]);
  };
  EXPECT_EQ(after(0, 2), std::pair(3.0f, 3.0f));
  EXPECT_EQ(after(1, 2), std::pair(5.0f, 5.0f));
  EXPECT_EQ(after(0, 1), std::pair(8.0f, 0.0f));
  EXPECT_EQ(after(0, 3), std::pair(3.0f, 0.0f));
  EXPECT_EQ(after(1, 3), std::pair(5.0f, 0.0f));
  EXPECT_EQ(after(2, 3), std::pair(0.0f, 0.0f));
  snapshot.own_arrays.clear();  // of a strategy that has none
  EXPECT_EQ(after(1, 2), std::pair(0.0f, 0.0f));
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
