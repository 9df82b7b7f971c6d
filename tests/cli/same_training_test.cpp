// One recipe on several numbers of ranks, under both launchers, gives the same training.
#include <nlohmann/json.hpp>

#include "tests/cli/launched.hpp"

namespace {

std::vector<double> losses(const std::string& run) {
  std::vector<double> values;
  std::ifstream in(run + "/metrics.jsonl");
  for (std::string line; std::getline(in, line);) {
    const auto object = nlohmann::json::parse(line);
    if (object.value("kind", "") == "step") values.push_back(object.value("loss", 0.0));
    if (object.value("kind", "") == "end") values.push_back(object["test"].value("loss", 0.0));
  }
  return values;
}

class SameTraining : public testing::TestWithParam<LaunchKind> {
 protected:
  Outcome launch(int ranks, const std::string& arguments) {
    Launched launched(GetParam().words + " " + std::to_string(ranks) + " " + GetParam().program + " " + arguments,
                      folder_ / "out");
    return launched.outcome(120);
  }
  TemporaryFolder folder_;
};

TEST_P(SameTraining, LossesOfOneRank) {
  const std::string train = "train " + small_recipe(folder_) + " --threads 1 --set folder=";
  const Outcome alone = run_isobar(train + folder_ / "one");
  ASSERT_EQ(alone.code, 0) << alone;
  const std::vector<double> one = losses(folder_ / "one");
  ASSERT_EQ(one.size(), 11u) << "ten steps and a test";
  for (const int ranks : {1, 2, 3}) {
    const std::string run = folder_ / std::to_string(ranks);
    const Outcome outcome = launch(ranks, train + run);
    ASSERT_EQ(outcome.code, 0) << outcome;
    const std::vector<double> many = losses(run);
    ASSERT_EQ(many.size(), one.size());
    for (std::size_t i = 0; i < one.size(); ++i) EXPECT_NEAR(many[i], one[i], 1e-5 * std::abs(one[i])) << i;
  }
}

TEST_P(SameTraining, LossesOfOneRankWhereAModelIsCut) {
  const std::string train = "train " + small_recipe(folder_) + " --threads 1 --set folder=";
  const Outcome alone = run_isobar(train + folder_ / "one");
  ASSERT_EQ(alone.code, 0) << alone;
  const std::vector<double> one = losses(folder_ / "one");
  for (const auto& [ranks, split] : {std::pair(2, "depth=2"), {3, "height=3"}, {4, "depth=2"}}) {
    const std::string run = folder_ / std::to_string(ranks);
    const Outcome outcome = launch(ranks, train + run + " --set 'parallel.split=spatial(" + split + ")'");
    ASSERT_EQ(outcome.code, 0) << outcome;
    const std::vector<double> cut = losses(run);
    ASSERT_EQ(cut.size(), one.size());
    for (std::size_t i = 0; i < one.size(); ++i) EXPECT_NEAR(cut[i], one[i], 1e-5 * std::abs(one[i])) << i;
  }
}

TEST_P(SameTraining, DeterministicWeightsAreTheSameBitForBit) {
  const std::string train = "train " + small_recipe(folder_) +
                            " --threads 1 --set train.deterministic=true --set train.micro_batches=4 --set folder=";
  std::string first;
  for (const int ranks : {1, 2, 4}) {
    const std::string run = folder_ / std::to_string(ranks);
    const Outcome outcome = launch(ranks, train + run);
    ASSERT_EQ(outcome.code, 0) << outcome;
    const Outcome dump =
        run_isobar("--version", "h5dump -d /weights/conv1.w " + run + "/checkpoints/step_*.h5 | tail -n +2; ");
    if (ranks == 1) first = dump.text;
    EXPECT_GT(dump.text.size(), 1000u) << dump;
    EXPECT_EQ(dump.text, first) << ranks << " ranks";
  }
}

INSTANTIATE_TEST_SUITE_P(Launchers, SameTraining, testing::ValuesIn(launch_kinds()),
                         [](const auto& kind) { return kind.param.name; });

}  // namespace
