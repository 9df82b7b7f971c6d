// What `train` shows and writes, as its options say.
#include "tests/cli/launched.hpp"

namespace {

TEST(RunTraining, ACheckTellsTheSizeAndWritesNothing) {
  const TemporaryFolder folder;
  const Outcome outcome =
      run_isobar("train --check --quiet --set folder=" + folder / "run" + " " + small_recipe(folder));
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_SHOWS(outcome, " is sound: ");
  EXPECT_SHOWS(outcome, " parameters, ");
  EXPECT_FALSE(fs::exists(folder / "run"));
}

TEST(RunTraining, QuietShowsNothing) {
  const TemporaryFolder folder;
  const Outcome outcome =
      run_isobar("train --quiet --threads 1 --set folder=" + folder / "run" + " " + small_recipe(folder));
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_EQ(outcome.text, "");
  EXPECT_TRUE(fs::exists(folder / "run/metrics.jsonl"));
}

TEST(RunTraining, ARunIsResumedOrReplaced) {
  const TemporaryFolder folder;
  expect_wrong_call("train --resume --overwrite " + small_recipe(folder), "--resume");
}

}  // namespace
