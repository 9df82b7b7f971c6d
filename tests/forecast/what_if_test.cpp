#include "isobar/forecast/what_if.hpp"

#include "isobar/forecast/value_text.hpp"

#include "tests/expect_error.hpp"
#include "tests/forecast/made_scenario.hpp"

namespace isobar::forecast {
namespace {

WhatIf asked(std::string_view quantity, const std::vector<std::string>& values = {}) {
  ScenarioRunner runner({.simulate = formula});
  sim::Scenario base = made_scenario();
  base.ranks = 64;
  base.strategy = "sync(bucket_mb=2)";
  return what_if(find_quantity(quantity), base, values, runner);
}

TEST(WhatIf, EveryQuantityHasUsualValues) {
  for (const Quantity* quantity : quantities()) {
    const WhatIf table = asked(quantity->name);
    EXPECT_GE(table.rows.size(), 3u) << quantity->name;
    for (const WhatIfRow& row : table.rows) EXPECT_EQ(row.variant.facts.size(), quantity->columns.size());
    EXPECT_HAS(what_if_text(table), std::string(quantity->name));
    EXPECT_HAS(what_if_csv(table), "step_seconds");
  }
}

TEST(WhatIf, InputTellsWhatIsNeededAndWhatThereIs) {
  const WhatIf table = asked("input", {"0.1", "100"});
  ASSERT_EQ(table.rows.size(), 6u);
  // 64 ranks read 4 samples of 1 MB in 0.1 s; 32 nodes get 0.1 GB/s each, 1 GB/s together.
  EXPECT_EQ(table.rows[1].variant.facts, (std::vector<std::string>{"2.56 GB/s", "1.00 GB/s"}));
  EXPECT_GT(table.rows[1].simulated.input_seconds, 0);
  EXPECT_HAS(table.rows[2].variant.missing, "platform 'made' has none");
  EXPECT_EQ(table.rows[5].simulated.input_seconds, 0);
  EXPECT_GT(table.rows[4].simulated.input_seconds, table.rows[1].simulated.input_seconds);
  EXPECT_HAS(what_if_text(table), "burst buffer");
}

TEST(WhatIf, LagChangesTheStrategyAndKeepsItsArguments) {
  const WhatIf table = asked("lag", {"0", "2"});
  EXPECT_EQ(table.rows[0].variant.scenario.strategy.str(), "sync(bucket_mb=2)");
  EXPECT_EQ(table.rows[1].variant.scenario.strategy.str(), "lagged(bucket_mb=2, k=2)");
  EXPECT_GT(table.rows[1].efficiency, table.rows[0].efficiency);
}

TEST(WhatIf, ExchangeIsChangedInOnePlace) {
  EXPECT_EQ(asked("bucket", {"16"}).rows[0].variant.scenario.strategy.str(), "sync(bucket_mb=16.0)");
  EXPECT_EQ(asked("algorithm", {"tree"}).rows[0].variant.scenario.strategy.str(), "sync(bucket_mb=2, algorithm=tree)");
  EXPECT_EQ(asked("hierarchy").rows.back().variant.label, "hierarchical");
}

TEST(WhatIf, BatchesComputeLonger) {
  const WhatIf table = asked("batch", {"4", "8"});
  EXPECT_EQ(table.rows[1].variant.facts[0], "512");
  EXPECT_GT(table.rows[1].efficiency, table.rows[0].efficiency);
}

TEST(WhatIf, WrongWordsAreAnswered) {
  EXPECT_HAS(tests::error_of([] { asked("lags"); }), "did you mean 'lag'");
  EXPECT_HAS(tests::error_of([] { asked("lag", {"-1"}); }), "lag: '-1'; a number from 0 to 64");
  EXPECT_HAS(tests::error_of([] { asked("batch", {"4.5"}); }), "batch of a rank: '4.5'");
  EXPECT_HAS(tests::error_of([] { asked("hierarchy", {"1"}); }), "takes no values");
  EXPECT_EQ(value_of<double>("2.5", "x", 0, 3), 2.5);
}

}  // namespace
}  // namespace isobar::forecast
