#include "isobar/forecast/published.hpp"

#include "isobar/parallel/strategy.hpp"
#include "isobar/zoo/network.hpp"

#include "tests/expect_error.hpp"
#include "tests/forecast/made_scenario.hpp"

namespace isobar::forecast {
namespace {

TEST(Published, CasesAreSound) {
  for (const PublishedCase& c : published_cases()) {
    EXPECT_GT(c.efficiency, 0.4) << c.system;
    EXPECT_LT(c.efficiency, 1) << c.system;
    EXPECT_FALSE(c.source.empty()) << c.system;
    EXPECT_NO_THROW(zoo::make_network(Spec(c.model))) << c.model;
    EXPECT_NO_THROW(make(parallel::strategies(), Spec(c.strategy), "strategy"));
    const sim::Platform platform = sim::read_platform(std::string(c.platform));
    EXPECT_LE(c.ranks, platform.nodes * platform.node.ranks) << c.system;
  }
}

constexpr PublishedCase small[] = {{.system = "Cori, weak",
                                    .platform = "cori",
                                    .model = "lenet",
                                    .batch = 8,
                                    .ranks = 64,
                                    .strategy = "sync",
                                    .efficiency = 0.5,
                                    .source = "made"},
                                   {.system = "Cori, strong",
                                    .platform = "cori",
                                    .model = "lenet",
                                    .batch = 64,
                                    .ranks = 4,
                                    .strategy = "sync",
                                    .strong = true,
                                    .efficiency = 0.5,
                                    .source = "made"},
                                   {.system = "Cori, hybrid",
                                    .platform = "cori",
                                    .model = "lenet",
                                    .batch = 8,
                                    .ranks = 64,
                                    .strategy = "groups(of=15, servers=layer)",
                                    .efficiency = 0.5,
                                    .source = "made"}};

TEST(Published, ComparesForecastsWithWhatWasPublished) {
  std::vector<sim::Scenario> seen;
  ScenarioRunner runner({.at_once = 1, .simulate = [&](const sim::Scenario& s, bool) {
                           seen.push_back(s);
                           return formula(s);
                         }});
  const auto rows = forecast_published("", runner, small);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_DOUBLE_EQ(rows[0].efficiency, formula(seen[0]).step_seconds / rows[0].simulated.step_seconds);
  EXPECT_EQ(seen[3].ranks, 4);
  EXPECT_EQ(seen[3].workload.batch, 16) << "a fourth of the global batch";
  EXPECT_DOUBLE_EQ(rows[1].efficiency, formula(seen[2]).step_seconds / rows[1].simulated.step_seconds / 4);
  ASSERT_EQ(seen.size(), 5u) << "a rank alone has no servers, so that it is that of the first row";
  EXPECT_EQ(seen.back().ranks, 64);
  EXPECT_EQ(seen.back().strategy.str(), Spec(small[2].strategy).str());
  EXPECT_DOUBLE_EQ(rows[2].efficiency, 60.0 / 64 * formula(seen[0]).step_seconds / rows[2].simulated.step_seconds)
      << "4 ranks serve";
  EXPECT_NEAR(mean_points(rows),
              (std::abs(rows[0].points()) + std::abs(rows[1].points()) + std::abs(rows[2].points())) / 3, 1e-9);
  const std::string text = published_text(rows);
  EXPECT_HAS(text, "groups(of=15, servers=layer)");
  EXPECT_HAS(text, "mean absolute error: ");
  EXPECT_HAS(published_csv(rows), "\"Cori, strong\",cori,\"lenet\",64,4,strong,");
  EXPECT_EQ(forecast_published("HYBRID", runner, small).size(), 1u);
  EXPECT_HAS(tests::error_of([&] { forecast_published("Fugaku", runner, small); }), "no row matches 'Fugaku'");
}

}  // namespace
}  // namespace isobar::forecast
