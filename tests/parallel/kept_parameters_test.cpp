#include "isobar/parallel/kept_parameters.hpp"

#include <gtest/gtest.h>

namespace isobar::parallel {
namespace {

class Kept : public testing::Test {
 protected:
  // Three trained numbers, two statistics, one trained at twice the rate.
  Kept() {
    float next = 1;
    for (const std::span<float> part : kept.state())
      for (float& number : part) number = next++;
  }
  std::vector<float> state() const { return {kept.numbers().begin(), kept.numbers().end()}; }

  const std::vector<ServedParameter> parameters{
      {.count = 3}, {.count = 2, .trained = false}, {.count = 1, .rate_scale = 2}};
  const std::unique_ptr<optim::Optimizer> sgd = make(optim::optimizers(), "sgd", "optimizer");
  KeptParameters kept{parameters, *sgd};
};

TEST_F(Kept, GradientsAreThoseOfWhatIsTrained) {
  EXPECT_EQ(kept.trained(), 4u);
  EXPECT_EQ(kept.statistics(), 2u);
  kept.update(std::vector<float>{1, 2, 3, 4}, {.index = 9, .learning_rate = 0.5}, 1);
  EXPECT_EQ(state(), (std::vector<float>{0.5f, 1, 1.5f, 4, 5, 2}));
  std::vector<float> weights(4);
  kept.copy_trained_weights(weights);
  EXPECT_EQ(weights, (std::vector<float>{0.5f, 1, 1.5f, 2}));
}

TEST_F(Kept, StatisticsAreTheMeanOfThoseWhoSentSome) {
  const std::vector<float> one{1, 2}, other{4, 8};
  kept.set_statistics({{}, one, other});
  EXPECT_EQ(state(), (std::vector<float>{1, 2, 3, 2.5f, 5, 6}));
  kept.set_statistics({{}, {}});
  EXPECT_EQ(state(), (std::vector<float>{1, 2, 3, 2.5f, 5, 6}));
}

// The number of an update is the server's own.
TEST(KeptParameters, CountsUpdatesByItself) {
  const auto adam = make(optim::optimizers(), "adam(lr=0.1)", "optimizer");
  const std::vector<ServedParameter> one{{.count = 1}};
  KeptParameters kept(one, *adam), same(one, *adam);
  const std::vector<float> gradient{2};
  for (std::int64_t update = 1; update <= 3; ++update) {
    kept.update(gradient, {.index = 1, .learning_rate = 0.1}, update);
    same.update(gradient, {.index = update, .learning_rate = 0.1}, update);
  }
  const std::vector<float> a(kept.numbers().begin(), kept.numbers().end());
  const std::vector<float> b(same.numbers().begin(), same.numbers().end());
  EXPECT_EQ(a.size(), 3u);
  EXPECT_EQ(a, b);
  // Adam's first steps with a gradient that stays the same are the rate.
  EXPECT_NEAR(a[0], -0.3, 1e-5);
}

}  // namespace
}  // namespace isobar::parallel
