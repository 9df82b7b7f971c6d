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

TEST(PlanRanks, WorkersAndServersAreTwoKinds) {
  const TemporaryFolder folder;
  const std::string words = "plan " + plan_recipe_in(folder) + " --ranks 5 --set 'parallel.strategy=async(servers=2)'";
  const Outcome shown = run_isobar(words);
  EXPECT_EQ(shown.code, 0) << shown;
  EXPECT_SHOWS(shown, "0-2          trains  1 (3 teams, free)    whole      1/3 of 8");
  EXPECT_SHOWS(shown, "3-4          serves  5, free              parameters -");
  const auto planned = nlohmann::json::parse(run_isobar(words + " --json").text);
  ASSERT_EQ(planned.at("kinds").size(), 2u);
  const auto& served = planned["kinds"][1];
  EXPECT_EQ(served.at("role"), "serves");
  EXPECT_EQ(served.at("circles").at(0).at("pace"), "free");
  EXPECT_EQ(served.at("circles").at(0).at("fate"), "peer");
  EXPECT_EQ(served.at("messages_per_step"), 6) << "an answer and weights for each of three workers";
}

TEST(PlanRanks, AModelThatIsCutIsShownPartByPart) {
  const TemporaryFolder folder;
  const Outcome shown =
      run_isobar("plan " + plan_recipe_in(folder) + " --ranks 4 --set 'parallel.split=spatial(depth=2)'");
  EXPECT_EQ(shown.code, 0) << shown;
  EXPECT_SHOWS(shown, "global batch 8: 2 replicas of 2 ranks with 1 micro-batch of 4");
  EXPECT_SHOWS(shown, "0, 2         trains  4, lockstep          depth 0-3 of 8 1/2 of 8");
  EXPECT_SHOWS(shown, "; model ");
  EXPECT_SHOWS(shown, "one model over 2 ranks: at most ");
  EXPECT_SHOWS(shown, "x[0:5, 0:8, 0:8, 0:1]");  // with the row beyond its edge that the first layer reads
}

TEST(PlanRanks, ANetworkIsShownWithoutARecipe) {
  const std::string network = "plan 'cosmoflow(size=16, channels=1, width=4, layers=2)' --split 'spatial(depth=2)'";
  const Outcome json = run_isobar(network + " --ranks 2 --json");
  EXPECT_EQ(json.code, 0) << json;
  const auto planned = nlohmann::json::parse(json.text);
  ASSERT_EQ(planned.at("kinds").size(), 2u);
  for (const auto& kind : planned["kinds"]) {
    EXPECT_GT(kind.at("bytes_within_passes"), 0);
    EXPECT_EQ(kind.at("bytes_within_passes_to").size(), 1u);
    EXPECT_LT(kind.at("memory_bytes"), planned.at("whole_memory_bytes"));
  }
  const Outcome steps = run_isobar(network + " --part 1");
  EXPECT_EQ(steps.code, 0) << steps;
  EXPECT_SHOWS(steps, "part 1 of 2: depth 8-15 of 16");
  EXPECT_SHOWS(steps, "to 0 of replica, 1 message, ");
  EXPECT_SHOWS(steps, " messages sent to others of replica in a pass: ");
}

TEST(PlanRanks, MistakesAreAnswered) {
  const TemporaryFolder folder;
  const std::string recipe = plan_recipe_in(folder);
  const Outcome solo = run_isobar("plan " + recipe + " --ranks 2 --set parallel.strategy=solo");
  EXPECT_EQ(solo.code, 2) << solo;
  EXPECT_SHOWS(solo, "strategy 'solo' exchanges nothing, but there are 2 ranks");
  const Outcome file = run_isobar("plan missing.toml --ranks 2");
  EXPECT_EQ(file.code, 2) << file;
  EXPECT_SHOWS(file, "missing.toml");
  EXPECT_EQ(run_isobar("plan " + recipe + " --per-node 2").code, 2);
  const Outcome codec = run_isobar("plan " + recipe + " --ranks 2 --set parallel.codec=bf61");
  EXPECT_EQ(codec.code, 2) << codec;
  EXPECT_SHOWS(codec, "did you mean 'bf16'?");
  const Outcome split = run_isobar("plan " + recipe + " --ranks 2 --set parallel.split=spacial");
  EXPECT_EQ(split.code, 2) << split;
  EXPECT_SHOWS(split, "did you mean 'spatial'?");
  const Outcome uneven = run_isobar("plan " + recipe + " --ranks 3 --set 'parallel.split=spatial(depth=2)'");
  EXPECT_EQ(uneven.code, 2) << uneven;
  EXPECT_SHOWS(uneven, "3 ranks cannot be divided into replicas of 2 ranks each");
  const Outcome part = run_isobar("plan 'cosmoflow(size=32)' --split 'spatial(depth=2)' --part 2");
  EXPECT_EQ(part.code, 2) << part;
  EXPECT_SHOWS(part, "valid: 0 to 1");
}

TEST(PlanRanks, TheFamiliesAreListed) {
  EXPECT_SHOWS(run_isobar("list splits"), "every rank has a whole model");
  EXPECT_SHOWS(run_isobar("list codecs"), "topk(share=0.01, least=1024)");
  EXPECT_SHOWS(run_isobar("list strategies"), "lagged(k=1");
}

}  // namespace
