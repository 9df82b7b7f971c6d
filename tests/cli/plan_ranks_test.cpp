// isobar plan RECIPE --ranks, as a user sees it.
#include <fstream>

#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"

namespace {

std::string plan_recipe_in(const TemporaryFolder& folder) {
  std::ofstream(folder / "tiny.toml") << "model = 'cosmoflow(size=8, channels=1, width=4, layers=2, outputs=2)'\n"
                                      << "[data]\nbatch = 8\n"
                                      << "train = 'noise(shape=[8, 8, 8, 1], targets=2, count=24)'\n"
                                      << "[parallel]\nstrategy = 'sync(algorithm=ring)'\n";
  return "'" + folder / "tiny.toml" + "'";
}

TEST(PlanRanks, ShowsWhatEachKindOfRankIsAndSends) {
  const TemporaryFolder folder;
  const std::string recipe = plan_recipe_in(folder);
  const Outcome shown = run_isobar("plan " + recipe + " --ranks 4");
  EXPECT_EQ(shown.code, 0) << shown;
  EXPECT_SHOWS(shown, "global batch 8: 4 ranks with 1 micro-batch of 2; 3 steps in an epoch");
  EXPECT_SHOWS(shown, "split none, strategy sync(algorithm=ring");
  EXPECT_SHOWS(shown, "0-3          trains  4, lockstep          whole      1/4 of 8");
  const Outcome json = run_isobar("plan " + recipe + " --ranks 4 --json --set parallel.codec=bf16");
  EXPECT_EQ(json.code, 0) << json;
  const auto planned = nlohmann::json::parse(json.text);
  ASSERT_EQ(planned.at("kinds").size(), 1u);
  EXPECT_EQ(planned["kinds"][0].at("ranks").size(), 4u);
  EXPECT_GT(planned["kinds"][0].at("bytes_per_step"), 0);
}

TEST(PlanRanks, MistakesAreAnswered) {
  const TemporaryFolder folder;
  const std::string recipe = plan_recipe_in(folder);
  const Outcome solo = run_isobar("plan " + recipe + " --ranks 2 --set parallel.strategy=solo");
  EXPECT_EQ(solo.code, 2) << solo;
  EXPECT_SHOWS(solo, "strategy 'solo' exchanges nothing, but there are 2 ranks");
  EXPECT_EQ(run_isobar("plan cosmoflow --ranks 2").code, 2);
  EXPECT_EQ(run_isobar("plan " + recipe + " --per-node 2").code, 2);
  const Outcome codec = run_isobar("plan " + recipe + " --ranks 2 --set parallel.codec=bf61");
  EXPECT_EQ(codec.code, 2) << codec;
  EXPECT_SHOWS(codec, "did you mean 'bf16'?");
  const Outcome split = run_isobar("plan " + recipe + " --ranks 2 --set parallel.split=spatial");
  EXPECT_EQ(split.code, 2) << split;
  EXPECT_SHOWS(split, "unknown split 'spatial'");
}

TEST(PlanRanks, TheFamiliesAreListed) {
  EXPECT_SHOWS(run_isobar("list splits"), "every rank has a whole model");
  EXPECT_SHOWS(run_isobar("list codecs"), "topk(share=0.01, least=1024)");
  EXPECT_SHOWS(run_isobar("list strategies"), "lagged(k=1");
}

}  // namespace
