#include "isobar/forecast/forecast_text.hpp"

#include <nlohmann/json.hpp>

#include "tests/expect_error.hpp"
#include "tests/forecast/made_scenario.hpp"

namespace isobar::forecast {
namespace {

Forecast forecast_text_made_forecast() {
  ScenarioRunner runner({.losses = true, .simulate = formula});
  Sweep sweep{.base = made_scenario(), .ranks = {2, 2048}, .strategies = {"sync"}, .modes = {Mode::weak, Mode::strong}};
  return forecast(sweep, runner);
}

TEST(ForecastText, HasTablesNotesAndTheError) {
  const std::string text = forecast_text(forecast_text_made_forecast());
  EXPECT_HAS(text, "made: 1,024 nodes, 2 ranks on each, samples are in memory already");
  EXPECT_HAS(text, "batch 4 on a rank, 1.00 GF and 100 ms of computing a step, 5.00 MB of gradients");
  EXPECT_HAS(text, "Weak scaling");
  EXPECT_HAS(text, "Strong scaling");
  EXPECT_HAS(text, "| rounds");
  EXPECT_HAS(text, "note: strong scaling on 2,048 ranks is left out");
  EXPECT_HAS(text, "error: uncalibrated");
}

TEST(ForecastText, CsvAndJsonHoldTheSameRows) {
  Forecast result = forecast_text_made_forecast();
  result.error = {.runs = 3, .mean = 0.05, .worst = 0.1, .text = "5 %"};
  const std::string csv = forecast_csv(result);
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 4);
  EXPECT_HAS(csv, "weak,\"sync\",2048,4,");
  EXPECT_HAS(csv, ",0.05\n");
  const auto json = nlohmann::json::parse(forecast_json(result));
  ASSERT_EQ(json["rows"].size(), 3u);
  EXPECT_EQ(json["rows"][1]["ranks"], 2048);
  EXPECT_EQ(json["rows"][1]["step_seconds"], result.rows[1].simulated.step_seconds);
  EXPECT_EQ(json["error"]["mean"], 0.05);
  EXPECT_EQ(json["platform"], "made");
}

}  // namespace
}  // namespace isobar::forecast
