#include "isobar/forecast/forecast_page.hpp"

#include "isobar/forecast/rank_chart.hpp"

#include "tests/capture.hpp"
#include "tests/expect_error.hpp"
#include "tests/forecast/made_scenario.hpp"

namespace isobar::forecast {
namespace {

Forecast made_forecast() {
  ScenarioRunner runner({.losses = true, .simulate = formula});
  Sweep sweep{.base = made_scenario(), .ranks = {1, 64, 2048}, .strategies = {"sync", "lagged(k=1)"}};
  sweep.base.workload.name = "<made>";
  return forecast(sweep, runner);
}

TEST(ForecastPage, ShowsChartsTablesAndTheError) {
  const std::string page = forecast_html(made_forecast());
  EXPECT_HAS(page, "Forecast: &lt;made&gt; on made");
  EXPECT_HAS(page, "uncalibrated");
  EXPECT_HAS(page, "lagged(k=1), 2,048 ranks");
  EXPECT_HAS(page, "aria-label=\"efficiency, % over ranks\"");
  EXPECT_HAS(page, "bandwidth: ");
  EXPECT_EQ(page.find("<made>"), std::string::npos);
}

TEST(ForecastPage, WritesAllFiles) {
  const tests::TemporaryFolder folder;
  const auto names = write_forecast(made_forecast(), folder / "out");
  EXPECT_EQ(names.size(), 7u);
  for (const std::string& name : names) EXPECT_GT(tests::text_of(folder / "out" / name).size(), 100u) << name;
}

TEST(RankChart, StandsOverALogarithmicAxis) {
  const std::string chart = rank_chart({"things", {{"line", {1, 1024}, {1, 2}}}});
  for (const char* tick : {">1<", ">32<", ">1,024<"}) EXPECT_HAS(chart, tick);
  EXPECT_HAS(chart, "line, 1,024 ranks: 2");
  EXPECT_HAS(rank_chart({"one", {{"line", {8}, {5}}}}), "line, 8 ranks: 5") << "one point is enough";
}

TEST(RankChart, FilesBringTheirColours) {
  const std::string svg = standalone_svg(part_bars({{"a bar", {{"compute", 2}, {"waiting", 1}}}}, "bars", "ms"));
  EXPECT_TRUE(svg.starts_with("<svg")) << svg;
  EXPECT_HAS(svg, "prefers-color-scheme: dark");
  EXPECT_HAS(svg, "compute: 2 ms");
  EXPECT_HAS(svg, ">waiting</text>") << "the names of colours come along";
  EXPECT_EQ(standalone_svg("no drawing"), "");
}

}  // namespace
}  // namespace isobar::forecast
