#include "isobar/forecast/advise.hpp"

#include <algorithm>

#include "tests/expect_error.hpp"
#include "tests/forecast/made_scenario.hpp"

namespace isobar::forecast {
namespace {

Advice made_advice(double threshold) {
  ScenarioRunner runner({.simulate = formula});
  return advise({.sweep = {.base = made_scenario(), .ranks = {1, 16, 1024}, .strategies = {"sync", "lagged(k=1)"}},
                 .epoch_samples = 8000,
                 .threshold = threshold},
                runner);
}

TEST(Advise, RanksByTheTimeOfAnEpoch) {
  const Advice advice = made_advice(0.94);
  ASSERT_EQ(advice.ranking.size(), 6u);
  EXPECT_TRUE(std::ranges::is_sorted(advice.ranking, std::ranges::greater(), &ForecastRow::samples_per_second));
  ASSERT_TRUE(advice.fastest());
  EXPECT_EQ(advice.fastest()->ranks, 1024);
  EXPECT_EQ(advice.fastest()->strategy.name(), "lagged");
  EXPECT_DOUBLE_EQ(advice.epoch_seconds(*advice.fastest()), 8000 / advice.fastest()->samples_per_second);
  ASSERT_TRUE(advice.thrifty());
  EXPECT_GE(advice.thrifty()->efficiency, 0.94);
  const std::string text = advice_text(advice, {}, 2);
  EXPECT_HAS(text, "fastest epoch: lagged(k=1) on 1,024 ranks");
  EXPECT_HAS(text, "and 4 more");
  EXPECT_HAS(text, "error: uncalibrated");
  EXPECT_HAS(advice_csv(advice), "1,\"lagged(k=1)\",1024,");
}

TEST(Advise, SaysWhenNothingIsGoodEnough) {
  ScenarioRunner runner({.simulate = formula});
  const Advice advice =
      advise({.sweep = {.base = made_scenario(), .ranks = {64}, .strategies = {"sync"}}, .threshold = 0.999}, runner);
  EXPECT_EQ(advice.thrifty(), nullptr);
  EXPECT_HAS(advice_text(advice, {}), "none reaches 99.9 % efficiency");
  EXPECT_HAS(tests::error_of([] { made_advice(1.5); }), "an efficiency of at least 1.5");
}

TEST(Advise, TriesEveryAlgorithmOfSums) {
  const std::vector<Spec> all = candidate_strategies();
  EXPECT_TRUE(std::ranges::count(all, Spec("sync(algorithm=ring)")));
  EXPECT_TRUE(std::ranges::count(all, Spec("lagged(k=1, algorithm=hierarchical)")));
  EXPECT_FALSE(std::ranges::count(all, Spec("sync(algorithm=reproducible)")));
}

}  // namespace
}  // namespace isobar::forecast
