// `isobar bench --compare`: what counts as a regression, and how the program ends.
#include "tests/cli/made_rows.hpp"

namespace {

TEST(BenchCompare, ARegressionEndsWithOne) {
  const TemporaryFolder folder;
  const std::string before = file_with(folder, "before.jsonl", row("hep", 1) + row("gpt", 1));
  const std::string now = file_with(folder, "now.jsonl", row("hep", 1.4) + row("gpt", 0.7));
  const Outcome outcome = run_isobar("bench --compare " + before + " " + now);
  EXPECT_EQ(outcome.code, 1) << outcome;
  EXPECT_SHOWS(outcome, "slower than before, beyond the noise:\n  networks | hep");
  EXPECT_SHOWS(outcome, "faster than before, beyond the noise:\n  networks | gpt");
  EXPECT_SHOWS(outcome, "1 row is slower than in '" + before);
}

TEST(BenchCompare, NoiseAndMissingRowsAreNoRegression) {
  const TemporaryFolder folder;
  const std::string before = file_with(folder, "before.jsonl", row("hep", 1) + row("gpt", 1));
  const std::string now = file_with(folder, "now.jsonl", row("hep", 1.04, "another") + row("alexnet", 3, "another"));
  const Outcome outcome = run_isobar("bench --compare " + before + " " + now);
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_SHOWS(outcome, "3 rows: 0 slower, 0 faster, 1 as before, 1 only before, 1 only now");
  EXPECT_SHOWS(outcome, "other machine: a machine before, another now");
  EXPECT_EQ(run_isobar("bench --compare " + before + " " + file_with(folder, "slow.jsonl", row("hep", 1.4)) +
                       " --threshold 50")
                .code,
            0)
      << "a large threshold";
}

TEST(BenchCompare, BrokenLinesAreNamed) {
  const TemporaryFolder folder;
  const std::string good = file_with(folder, "good.jsonl", row("hep", 1));
  const std::string broken = file_with(folder, "broken.jsonl", row("hep", 1) + "{\"level\": \n");
  for (const std::string& files : {good + " " + broken, broken + " " + good}) {
    const Outcome outcome = run_isobar("bench --compare " + files);
    EXPECT_EQ(outcome.code, 1) << outcome;
    EXPECT_SHOWS(outcome, "broken.jsonl' line 2 is not a record of isobar bench");
  }
  EXPECT_SHOWS(run_isobar("bench --compare " + folder / "none.jsonl" + " " + good), "cannot be read");
}

TEST(BenchCompare, WrongCalls) {
  expect_wrong_call("bench operators --only no_such --alone", "unknown operator 'no_such'");
  EXPECT_EQ(run_isobar("bench no_such_level").code, 2);
}

}  // namespace
