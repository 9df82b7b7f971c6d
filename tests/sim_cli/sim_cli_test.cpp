// isobar-sim as a user sees it: forecasts, advice, what-if, platforms; and the mistakes users make.
#include <nlohmann/json.hpp>

#include "isobar/sim_cli/scenario_options.hpp"
#include "isobar/verbs/verb.hpp"

#include "tests/sim_cli/program.hpp"

namespace {

using isobar::tests::TemporaryFolder;

nlohmann::json json_of(const fs::path& file) {
  std::ifstream in(file);
  return nlohmann::json::parse(in, nullptr, false);
}

TEST(SimCli, HelpListsVerbs) {
  const Outcome outcome = run_simulator("--help");
  EXPECT_EQ(outcome.code, 0);
  for (const char* verb : {"forecast", "advise", "what-if", "published", "platforms"}) EXPECT_SHOWS(outcome, verb);
  for (const char* verb : {"forecast", "advise", "what-if", "published", "platforms"})
    EXPECT_EQ(run_simulator(std::string(verb) + " --help").code, 0) << verb;
  EXPECT_EQ(run_simulator("").code, 2);
  EXPECT_SHOWS(run_simulator("--version"), "isobar-sim ");
}

TEST(SimCli, PlatformsAreListedAndPrinted) {
  const Outcome all = run_simulator("platforms");
  EXPECT_EQ(all.code, 0);
  for (const char* name : {"cori", "theta", "summit", "stampede2"}) EXPECT_SHOWS(all, name);
  const Outcome one = run_simulator("platforms summit");
  EXPECT_EQ(one.code, 0);
  EXPECT_SHOWS(one, "[network]");
  expect_wrong_call("platforms sumit", "did you mean 'summit'");
}

TEST(SimCli, ForecastWritesItsFiles) {
  const TemporaryFolder folder;
  const std::string out = (folder / "out").string();
  const std::string command = "forecast " + small_network +
                              "--platform cori --ranks 1,4,16 --strategy 'sync(algorithm=ring)' "
                              "--strategy 'lagged(k=1)' --mode both --out " +
                              out;
  const Outcome outcome = run_simulator(command);
  ASSERT_EQ(outcome.code, 0) << outcome;
  EXPECT_SHOWS(outcome, "Weak scaling");
  EXPECT_SHOWS(outcome, "error: uncalibrated");
  EXPECT_SHOWS(outcome, "16 ranks is left out: they would share 4 samples");
  for (const char* file : {"forecast.html", "forecast.txt", "forecast.csv", "efficiency.svg", "step.svg", "cost.svg"})
    EXPECT_TRUE(fs::exists(folder / "out" / file)) << file;
  const nlohmann::json forecast = json_of(folder / "out/forecast.json");
  ASSERT_TRUE(forecast.is_object());
  ASSERT_EQ(forecast["rows"].size(), 10u);
  for (const auto& row : forecast["rows"]) {
    EXPECT_GT(row["step_seconds"].get<double>(), 0);
    EXPECT_LE(row["efficiency"].get<double>(), 1.2);
    double parts = row["compute_seconds"].get<double>();
    for (const auto& [name, seconds] : row["losses"].items()) parts += seconds.get<double>();
    const double told = parts / row["step_seconds"].get<double>();
    // For one rank without noise, the copies that lagged makes belong to no loss.
    if (row["ranks"] == 1) EXPECT_NEAR(told, 0.975, 0.026) << row;
    else EXPECT_NEAR(told, 1, 0.01) << row;
  }
  std::ifstream rows(folder / "out/rows.jsonl");
  const std::string before{std::istreambuf_iterator<char>(rows), {}};
  const Outcome again = run_simulator(command + " --resume");
  EXPECT_EQ(again.code, 0) << again;
  EXPECT_EQ(again.text, outcome.text);
  std::ifstream now(folder / "out/rows.jsonl");
  EXPECT_EQ(before, std::string(std::istreambuf_iterator<char>(now), {})) << "everything was known";
}

TEST(SimCli, ForecastIsTheSameAgain) {
  const std::string command = "forecast " + small_network + "--platform cori --ranks 8 --no-losses --seed 7";
  const Outcome one = run_simulator(command), two = run_simulator(command);
  EXPECT_EQ(one.code, 0) << one;
  EXPECT_EQ(one.text, two.text);
}

TEST(SimCli, AdviseRanksStrategies) {
  const Outcome outcome =
      run_simulator("advise " + small_network + "--platform ethernet --ranks 2,8 --samples 1000 --threshold 0.1");
  ASSERT_EQ(outcome.code, 0) << outcome;
  EXPECT_SHOWS(outcome, "fastest epoch: ");
  EXPECT_SHOWS(outcome, "fastest with at least 10 % efficiency");
  EXPECT_SHOWS(outcome, "an epoch: 1,000 samples");
}

TEST(SimCli, WrongCallsAreAnsweredInOneLine) {
  expect_wrong_call("forecst", "did you mean 'forecast'");
  expect_wrong_call("forecast --platform cori --ranks 1", "nothing to train");
  expect_wrong_call("forecast " + small_network + "--ranks 1", "--platform");
  expect_wrong_call("forecast " + small_network + "--platform cori", "--ranks");
  expect_wrong_call("forecast " + small_network + "--platform core --ranks 1", "cori");
  expect_wrong_call("forecast " + small_network + "--platform cori --ranks 0", "--ranks");
  expect_wrong_call("forecast " + small_network + "--platform cori --ranks 10000000",
                    "10,000,000 ranks, but 'cori' has");
  expect_wrong_call("forecast " + small_network + "--platform cori --ranks 2 --strategy 'sink'",
                    "unknown strategy 'sink'");
  expect_wrong_call("forecast " + small_network + "--platform cori --ranks 2 --strategy 'sync('", "sync(");
  expect_wrong_call("forecast --model cosmoflou --platform cori --ranks 2", "did you mean 'cosmoflow'");
  expect_wrong_call("forecast --model hep --trace . --platform cori --ranks 2", "--trace");
  expect_wrong_call("forecast --trace nowhere --platform cori --ranks 2", "there is no 'nowhere'");
  expect_wrong_call("forecast " + small_network + "--platform cori --ranks 2 --input node-local", "node");
  expect_wrong_call("forecast " + small_network + "--platform cori --ranks 2 --resume", "--out");
  expect_wrong_call("forecast " + small_network + "--platform cori --ranks 2 --flows --rounds", "--flows");
  expect_wrong_call("published --match Fugaku", "no row matches 'Fugaku'");
}

TEST(SimCli, BadPlatformFilesAreAnswered) {
  const TemporaryFolder folder;
  const std::string file = (folder / "mine.toml").string();
  std::ofstream(file) << "nodes = 4\n[node]\nwheels = 3\n";
  const Outcome outcome = run_simulator("forecast " + small_network + "--ranks 2 --platform " + file);
  EXPECT_EQ(outcome.code, 2) << outcome;
  EXPECT_SHOWS(outcome, "mine.toml");
  EXPECT_TRUE(outcome.one_line()) << outcome;
}

TEST(SimCli, CalibrationNeedsRuns) {
  const TemporaryFolder folder;
  const Outcome outcome =
      run_simulator("forecast --quiet --platform ethernet --ranks 2 --calibrate " + folder.path().string());
  EXPECT_EQ(outcome.code, 1) << outcome;
  EXPECT_SHOWS(outcome, "did not begin");
}

}  // namespace
