// local on a model of one weight, by hand: mean of models, post-local steps, block momentum, an outer optimizer.
#include "tests/parallel/descents_apart.hpp"

namespace isobar::parallel::trials {
namespace {

using Weights = std::vector<float>;

TEST(KnownAnswer, local) {
  // Curvatures 1 and 3 at a rate of 1/4: a step alone multiplies the weights by 3/4 and 1/4.
  const CourseApart course = descend_apart({"local(steps=2)", {{1}, {3}}});
  EXPECT_EQ(course.weights[0], (Weights{0.75f, 0.3125f, 0.234375f, 0.09765625f}));
  EXPECT_EQ(course.weights[1], (Weights{0.25f, 0.3125f, 0.078125f, 0.09765625f}));
  EXPECT_EQ(course.judged, (Weights{0.5f, 0.3125f, 0.15625f, 0.09765625f}));
  EXPECT_EQ(course.last, 0.09765625f);
}

TEST(KnownAnswer, local_with_a_mean_in_each_step_is_sync) {
  for (const std::vector<std::vector<float>>& curvatures :
       {std::vector<std::vector<float>>{{1}, {3}}, {{1, 1, 4}, {}, {2}}, {{2}}}) {
    const std::vector<float> sync = descend({"sync", curvatures});
    const CourseApart local = descend_apart({"local(steps=1)", curvatures});
    for (int t = 0; t < 4; ++t) EXPECT_NEAR(local.judged[t], sync[t], 1e-7) << "samples count, not ranks";
  }
}

TEST(KnownAnswer, local_ends_with_the_mean) {
  const CourseApart course = descend_apart({"local(steps=3)", {{1}, {3}}, {}, 0.25, 2});
  EXPECT_EQ(course.weights[0].back(), 0.5625f);
  EXPECT_EQ(course.last, (0.5625f + 0.0625f) / 2);
}

// In the epochs before, every step is that of sync.
TEST(KnownAnswer, local_from_an_epoch_on) {
  const CourseApart course =
      descend_apart({.strategy = "local(steps=2, from=1)", .curvatures = {{1}, {3}}, .steps_per_epoch = 2});
  EXPECT_EQ(course.weights[0], (Weights{0.5f, 0.25f, 0.1875f, 0.078125f}));
  EXPECT_EQ(course.weights[1], (Weights{0.5f, 0.25f, 0.0625f, 0.078125f}));
}

TEST(KnownAnswer, local_with_an_outer_rate_of_one_is_without) {
  for (const std::vector<std::vector<float>>& curvatures : {std::vector<std::vector<float>>{{1}, {3}}, {{2}}}) {
    const CourseApart plain = descend_apart({"local(steps=2)", curvatures});
    const CourseApart outer = descend_apart({"local(steps=2, outer=sgd(lr=1))", curvatures});
    for (int t = 0; t < 4; ++t) EXPECT_NEAR(outer.judged[t], plain.judged[t], 1e-7);
  }
}

// w = 1, mean after two steps 5/16: the way is 11/16; v = 1/2 v + way, w -= v.
TEST(KnownAnswer, local_with_block_momentum) {
  const CourseApart course = descend_apart({"local(steps=2, outer=sgd(lr=1, momentum=0.5, form=torch))", {{1}, {3}}});
  const double first = 1 - 11.0 / 16, v = 0.5 * 11.0 / 16 + first * 11.0 / 16;
  EXPECT_NEAR(course.judged[1], first, 1e-7);
  EXPECT_NEAR(course.judged[3], first - v, 1e-7);
}

// Only the numbers of a step travel more often than every eighth time.
TEST(KnownAnswer, local_sends_an_eighth) {
  const auto bytes = [](const char* strategy, int steps) {
    return descend_apart({.strategy = strategy, .curvatures = {{1}, {3}}, .steps = steps}).cost.traffic.bytes;
  };
  const auto gradients = [&](const char* strategy) { return bytes(strategy, 16) - bytes(strategy, 8); };
  EXPECT_GT(gradients("sync"), 0);
  const PlannedRank rank{.circle = {.rank = 0, .size = 2, .nodes = {0, 1}}, .places = {}, .gradients = 1 << 20};
  const exec::GradientPlace whole{0, 1 << 20};
  PlannedRank with = rank;
  with.places = {&whole, 1};
  const auto planned = [&](const char* strategy) {
    return make(strategies(), Spec(strategy), "strategy")->needs(with).traffic.bytes;
  };
  const std::int64_t numbers = 64;  // a cache line
  EXPECT_EQ(planned("local(steps=8)") - numbers, (planned("sync") - numbers) / 8);
}

}  // namespace
}  // namespace isobar::parallel::trials
