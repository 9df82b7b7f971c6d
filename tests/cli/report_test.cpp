// isobar report: page and run card of real runs, and several of them side by side.
#include <algorithm>

#include <nlohmann/json.hpp>

#include "tests/cli/launched.hpp"

namespace {

nlohmann::json card_in(const std::string& folder) {
  std::ifstream in(folder + "/run_card.json");
  return nlohmann::json::parse(in);
}

std::string row(const nlohmann::json& card, int number) {
  const auto& found = card["rows"][static_cast<std::size_t>(number) - 1];
  return found.contains("figure") ? found["figure"] : found["missing"];
}

Outcome train(const TemporaryFolder& folder, const std::string& name, const std::string& more = "") {
  return run_isobar("train " + small_recipe(folder) + " --quiet --threads 1 --set folder=" + folder / name + " " +
                    more);
}

TEST(Report, OfOneRun) {
  const TemporaryFolder folder;
  const std::string run = folder / "runs/a";
  ASSERT_EQ(train(folder, "runs/a", "--set 'report.target=loss<=1000'").code, 0);
  ASSERT_EQ(train(folder, "runs/a", "--overwrite --set 'report.target=loss<=1000'").code, 0);
  ASSERT_EQ(train(folder, "runs/b").code, 0);
  fs::remove(run + "/report.html");
  const Outcome outcome = run_isobar("report " + run);
  ASSERT_EQ(outcome.code, 0) << outcome;
  EXPECT_SHOWS(outcome, "Run card: ");
  EXPECT_SHOWS(outcome, "written: " + run + "/report.html, " + run + "/run_card.json");
  EXPECT_TRUE(fs::exists(run + "/report.html"));
  const auto card = card_in(run);
  EXPECT_EQ(card["rows"].size(), 12u);
  EXPECT_NE(row(card, 3).find("started 2 times (0 resumed, 1 overwritten; 10 steps"), std::string::npos)
      << row(card, 3);
  EXPECT_NE(row(card, 3).find("1 other run of cosmoflow"), std::string::npos) << row(card, 3);
  EXPECT_NE(row(card, 3).find("all together 30 steps"), std::string::npos) << row(card, 3);
  EXPECT_NE(row(card, 10).find("target loss<=1000 reached"), std::string::npos) << row(card, 10);
  EXPECT_FALSE(card["rows"][5]["shown"]);  // noise is not read from files
}

TEST(Report, OfARunThatWasKilled) {
  const TemporaryFolder folder;
  const std::string run = folder / "killed";
  Launched launched(ISOBAR_PROGRAM " train " + small_recipe(folder) +
                        " --quiet --threads 1 --set train.epochs=1000000 --set folder=" + run,
                    folder / "out");
  const auto written = [&] {
    return std::ranges::all_of(std::array{"/timing.jsonl", "/metrics.jsonl"}, [&](const char* name) {
      return fs::exists(run + name) && fs::file_size(run + name) > 2000;
    });
  };
  ASSERT_TRUE(launched.wait_until(written)) << launched.outcome(0);
  launched.send(SIGKILL);
  launched.outcome(30);
  const Outcome outcome = run_isobar("report " + run);
  ASSERT_EQ(outcome.code, 0) << outcome;
  EXPECT_SHOWS(outcome, "not ended: running or killed");
  EXPECT_TRUE(fs::exists(run + "/report.html"));
  EXPECT_TRUE(card_in(run)["rows"][0]["shown"]);
}

TEST(Report, OfSeveralRuns) {
  const TemporaryFolder folder;
  ASSERT_EQ(train(folder, "runs/a").code, 0);
  ASSERT_EQ(train(folder, "runs/b", "--set optimizer.lr=0.02").code, 0);
  const std::string both = folder / "runs/a" + " " + folder / "runs/b";
  const Outcome outcome = run_isobar("report " + both);
  ASSERT_EQ(outcome.code, 0) << outcome;
  for (const char* part : {"2 runs side by side", "optimizer.lr", "test mae", "samples/s"}) EXPECT_SHOWS(outcome, part);
  EXPECT_TRUE(fs::exists(folder / "runs/report.html"));
  EXPECT_EQ(run_isobar("report " + both + " --out " + folder / "page.html").code, 0);
  EXPECT_TRUE(fs::exists(folder / "page.html"));
}

TEST(Report, ThePageOfARunAboveOthersStays) {
  const TemporaryFolder folder;
  for (const char* name : {"top", "top/a", "top/b"}) ASSERT_EQ(train(folder, name).code, 0) << name;
  const Outcome outcome = run_isobar("report " + folder / "top/a" + " " + folder / "top/b");
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_TRUE(fs::exists(folder / "top/comparison.html"));
}

TEST(Report, WrongCallsAreAnswered) {
  const TemporaryFolder folder;
  ASSERT_EQ(train(folder, "a").code, 0);
  const std::string run = folder / "a";
  expect_wrong_call("report", "runs is required");
  expect_wrong_call("report " + run + " " + run, "named twice");
  expect_wrong_call("train " + small_recipe(folder) + " --set report.target=good", "mae<=0.124");
  for (const std::string& wrong : {folder / "none", "/dev/null " + run, run + " " + folder / "recipe.toml"}) {
    const Outcome outcome = run_isobar("report " + wrong);
    EXPECT_EQ(outcome.code, 1) << outcome;
    EXPECT_TRUE(outcome.one_line()) << outcome;
    EXPECT_SHOWS(outcome, "is not the folder of a run");
  }
  const Outcome nowhere = run_isobar("report " + run + " --out " + folder / "no/such/page.html");
  EXPECT_EQ(nowhere.code, 1) << nowhere;
  EXPECT_SHOWS(nowhere, "page.html");
}

}  // namespace
