// The program on several ranks, under both launchers: training, the doctor, studies of scaling.
#include <nlohmann/json.hpp>

#include "tests/cli/launched.hpp"

namespace {

std::string small_recipe(const TemporaryFolder& folder) {
  const std::string path = folder / "recipe.toml";
  std::ofstream(path)
      << "model = \"cosmoflow(size=8, width=4, layers=2, dropout=0)\"\noptimizer = \"sgd(lr=0.01)\"\n[data]\n"
         "train = \"noise(shape=[8, 8, 8, 4], targets=4, count=40)\"\n"
         "test = \"noise(shape=[8, 8, 8, 4], targets=4, count=13, seed=9)\"\n"
         "batch = 8\n[train]\nepochs = 2\n";
  return path;
}

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

class Ranks : public testing::TestWithParam<LaunchKind> {
 protected:
  Outcome launch(int ranks, const std::string& arguments) {
    Launched launched(GetParam().words + " " + std::to_string(ranks) + " " + GetParam().program + " " + arguments,
                      folder_ / "out");
    return launched.outcome(120);
  }
  TemporaryFolder folder_;
};

TEST_P(Ranks, TrainAsOneRankDoes) {
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

TEST_P(Ranks, DeterministicWeightsAreTheSameBitForBit) {
  const std::string train = "train " + small_recipe(folder_) +
                            " --threads 1 --set train.deterministic=true --set train.micro_batches=4 --set folder=";
  std::string first;
  for (const int ranks : {1, 2, 4}) {
    const std::string run = folder_ / std::to_string(ranks);
    const Outcome outcome = launch(ranks, train + run);
    ASSERT_EQ(outcome.code, 0) << outcome;
    const Outcome dump = run_isobar("--version", "h5dump -d /weights/conv1.w " + run + "/checkpoint.h5 | tail -n +2; ");
    if (ranks == 1) first = dump.text;
    EXPECT_GT(dump.text.size(), 1000u) << dump;
    EXPECT_EQ(dump.text, first) << ranks << " ranks";
  }
}

TEST_P(Ranks, TheDoctorSeesThem) {
  const Outcome outcome = launch(2, "doctor --quick");
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_SHOWS(outcome, "2 on 1 node");
  EXPECT_SHOWS(outcome, GetParam().name == "mpich" ? "MPICH" : "Open MPI");
}

TEST_P(Ranks, AStudyOfScaling) {
  const std::string folder = folder_ / "study";
  for (const std::string mode : {"weak", "strong"}) {
    const Outcome outcome =
        run_isobar("scale " + small_recipe(folder_) + " --ranks 1,2 --mode " + mode + " --folder " + folder);
    ASSERT_EQ(outcome.code, 0) << outcome;
    EXPECT_SHOWS(outcome, mode == "weak" ? "Weak scaling" : "Strong scaling");
    EXPECT_TRUE(fs::exists(folder + "/" + mode + ".svg"));
    std::ifstream csv(folder + "/" + mode + ".csv");
    std::string line;
    for (int i = 0; i < 3; ++i) std::getline(csv, line);
    EXPECT_TRUE(line.starts_with(mode == "weak" ? "weak,2,1,16," : "strong,2,1,8,")) << line;
  }
  const Outcome wrong = run_isobar("scale " + small_recipe(folder_) + " --ranks 16 --mode strong");
  EXPECT_EQ(wrong.code, 2) << wrong;
  EXPECT_SHOWS(wrong, "leaves ranks without samples");
}

INSTANTIATE_TEST_SUITE_P(Launchers, Ranks, testing::ValuesIn(launch_kinds()),
                         [](const auto& kind) { return kind.param.name; });

}  // namespace
