#include "isobar/forecast/failures.hpp"

#include <algorithm>
#include <cmath>

#include "isobar/base/random.hpp"
#include "isobar/forecast/failure_table.hpp"

#include "tests/expect_error.hpp"
#include "tests/forecast/made_scenario.hpp"

namespace isobar::forecast {
namespace {

constexpr FailureCase hard{
    .work_seconds = 36000, .between_seconds = 3000, .checkpoint_seconds = 60, .restart_seconds = 200};

// The time of one job with random failures; the same seed gives the same result.
double drawn_seconds(const FailureCase& c, double interval, std::uint64_t seed) {
  const Random random(seed);
  std::uint64_t drawn = 0;
  const auto next_failure = [&] {
    return c.between_seconds > 0 ? -c.between_seconds * std::log(random.uniform(drawn++)) : INFINITY;
  };
  double now = 0, failure = next_failure();
  for (double done = 0; done < c.work_seconds * (1 - 1e-12);) {
    const double work = std::min(interval, c.work_seconds - done);
    double needed = work + c.checkpoint_seconds;
    while (failure < now + needed) {
      now = failure;
      failure = now + next_failure();
      needed = c.restart_seconds + work + c.checkpoint_seconds;
    }
    now += needed;
    done += work;
  }
  return now;
}

double mean_of_draws(const FailureCase& c, double interval, int draws) {
  double sum = 0;
  for (int i = 0; i < draws; ++i) sum += drawn_seconds(c, interval, static_cast<std::uint64_t>(i));
  return sum / draws;
}

TEST(Failures, DrawnJobsTakeWhatIsExpected) {
  for (const double interval : {300.0, 600.0, 1200.0, 3600.0}) {
    const double expected = expected_seconds(hard, interval);
    EXPECT_NEAR(mean_of_draws(hard, interval, 4000) / expected, 1, 0.01) << interval;
  }
}

TEST(Failures, DalysIntervalIsTheBest) {
  const double best = best_interval(hard);
  EXPECT_NEAR(best, std::sqrt(2 * 60.0 * 3000) * (1 + std::sqrt(0.01) / 3 + 0.01 / 9) - 60, 1e-9);
  const double expected = expected_seconds(hard, best);
  double least = INFINITY;
  for (double interval = 50; interval < 5000; interval += 10) least = std::min(least, expected_seconds(hard, interval));
  EXPECT_LT(expected / least, 1.001);
  // Randomly drawn jobs agree.
  const double drawn = mean_of_draws(hard, best, 2000);
  EXPECT_LT(drawn, mean_of_draws(hard, best / 3, 2000));
  EXPECT_LT(drawn, mean_of_draws(hard, best * 3, 2000));
}

TEST(Failures, WithoutFailuresOrCheckpointsNothingIsLost) {
  FailureCase never = hard;
  never.between_seconds = 0;
  EXPECT_EQ(best_interval(never), never.work_seconds);
  EXPECT_EQ(expected_seconds(never, 3600), 36000 + 10 * 60);
  EXPECT_EQ(drawn_seconds(never, 3600, 1), 36000 + 10 * 60);
  FailureCase often = hard;
  often.between_seconds = 20;
  EXPECT_EQ(best_interval(often), 20) << "a checkpoint takes longer than what lies between failures";
}

TEST(Failures, WrongNumbersAreRefused) {
  EXPECT_HAS(tests::error_of([] { best_interval({.work_seconds = 0}); }), "0 s of work");
  EXPECT_HAS(tests::error_of([] { expected_seconds(hard, 0); }), "a checkpoint every 0 s");
  EXPECT_HAS(tests::error_of([] { best_interval({.work_seconds = 1, .restart_seconds = -1}); }), "negative times");
}

TEST(Failures, OfAPlatformAreThoseOfItsNodes) {
  const sim::Scenario s = made_scenario();
  const FailureCase c = failure_case(s.platform, s.workload, 100, 24);
  EXPECT_EQ(c.work_seconds, 86400);
  EXPECT_EQ(c.between_seconds, 360000);
  EXPECT_NEAR(c.checkpoint_seconds, 3 * 5.000064e6 / 1e8, 1e-9);
  EXPECT_EQ(c.restart_seconds, 60);
}

TEST(FailureTable, ComparesRates) {
  ScenarioRunner runner({.simulate = formula});
  sim::Scenario base = made_scenario();
  base.ranks = 2000;
  const FailureTable table = failure_table(base, 24, {}, runner);
  ASSERT_EQ(table.rows.size(), 3u);
  EXPECT_EQ(table.nodes, 1000);
  EXPECT_GT(table.rows[0].expected, table.rows[2].expected) << "nodes that fail more often";
  EXPECT_LE(table.rows[1].expected, table.rows[1].hourly);
  EXPECT_HAS(failure_text(table), "2,000 ranks on 1,000 nodes, 24 hours of work");
  EXPECT_HAS(failure_csv(table), "\n10000,36000,");
  base.platform.failures = {};
  EXPECT_HAS(tests::error_of([&] { failure_table(base, 24, {}, runner); }), "does not say how often nodes fail");
  const std::vector<std::string> bad{"often"};
  EXPECT_HAS(tests::error_of([&] { failure_table(base, 24, bad, runner); }), "'often'; a number from");
}

}  // namespace
}  // namespace isobar::forecast
