// isobar run as a user sees it: what it rejects, and what it does when ranks end before they begin.
#include "tests/cli/launched.hpp"

namespace {

TEST(Run, RefusesNonsense) {
  expect_wrong_call("run -- train recipe.toml", "--ranks is required");
  expect_wrong_call("run -n 2 train recipe.toml", "command to run after --");
  expect_wrong_call("run -n 2", "command to run after --");
  expect_wrong_call("run -n 2 --", "only train can");
  expect_wrong_call("run -n 2 -- predict x", "'predict' cannot be supervised");
  expect_wrong_call("run -n 0 -- train recipe.toml", "not in range");
  expect_wrong_call("run -n 2 --spares -1 -- train recipe.toml", "not in range");
  expect_wrong_call("run -n 2 --min-ranks 3 -- train recipe.toml", "--min-ranks 3 is more than the 2 ranks");
  expect_wrong_call("run -n 2 --freeze 0 -- train recipe.toml", "not in range");
  expect_wrong_call("run -n 2 --relaunches -1 -- train recipe.toml", "not in range");
  expect_wrong_call("run -n 2 --launcher mpiexec -- train recipe.toml", "where the number of ranks goes");
}

TEST(Run, HelpTellsWhatItIsFor) {
  const Outcome help = run_isobar("run --help");
  EXPECT_EQ(help.code, 0) << help;
  for (const char* part :
       {"a spare takes its place", "isobar run -n 4 --spares 1 -- train recipe.toml", "--min-ranks", "--resume"})
    EXPECT_SHOWS(help, part);
}

TEST(Run, ALogThatCannotBeWrittenIsTold) {
  const Outcome outcome = run_isobar("run -n 2 --log no/such/folder/log.jsonl -- train recipe.toml");
  EXPECT_EQ(outcome.code, 1) << outcome;
  EXPECT_SHOWS(outcome, "no/such/folder/log.jsonl cannot be written");
}

class RunUnder : public testing::TestWithParam<LaunchKind> {};

TEST_P(RunUnder, AWrongCallOfTheRanksEndsWithTheirCode) {
  TemporaryFolder folder;
  Launched launched(GetParam().program + " run -n 2 -- train " + small_recipe(folder) + " --no-such-option",
                    folder / "out");
  const Outcome outcome = launched.outcome(60);
  EXPECT_EQ(outcome.code, 2) << outcome;
  EXPECT_SHOWS(outcome, "--no-such-option");
  EXPECT_TRUE(launched.marked().empty()) << "processes were left behind";
}

TEST_P(RunUnder, ARecipeThatIsNotThereEndsWithTheirCode) {
  TemporaryFolder folder;
  Launched launched(GetParam().program + " run -n 2 -- train " + folder / "none.toml", folder / "out");
  const Outcome outcome = launched.outcome(60);
  EXPECT_EQ(outcome.code, run_isobar("train " + folder / "none.toml").code) << outcome;
  EXPECT_SHOWS(outcome, "none.toml");
}

INSTANTIATE_TEST_SUITE_P(Launchers, RunUnder, testing::ValuesIn(launch_kinds()),
                         [](const auto& tried) { return tried.param.name; });

}  // namespace
