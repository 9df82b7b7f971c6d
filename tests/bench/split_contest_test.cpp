#include "isobar/bench/split_contest.hpp"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "tests/expect_error.hpp"
#include "tests/temporary_folder.hpp"

namespace isobar::bench {
namespace {

using namespace isobar::tests;

// A program that answers as ours would: a step takes 0.4 s whole and 0.5 s cut, and a fifth of its messages is waited
// for.
std::string split_contest_stand_in(const TemporaryFolder& folder) {
  const std::filesystem::path path = folder / "stand_in";
  std::ofstream(path) << "#!/bin/sh\n"
                         "case \"$*\" in *'--threads 2 --exchange none') t=0.4;;\n"
                         "  *'--threads 1 --exchange sync --split spatial(depth=2)') t=0.5;; esac\n"
                         "echo ready stand-in\n"
                         "while read a n; do case $a in\n"
                         "  step) i=0; while [ $i -lt $n ]; do printf '%s ' $t; i=$((i+1)); done; echo;;\n"
                         "  messages) echo 0.02 0.1 8 4800;;\n"
                         "esac; done\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path.string();
}

TEST(SplitContest, ComparesRanksThatShareAModelWithOneRankOfAllThreads) {
  const TemporaryFolder folder;
  SplitContest contest{.model = "cosmoflow(size=32)", .split = "spatial(depth=2)", .rounds = 3, .steps = 4};
  contest.self = split_contest_stand_in(folder);
  std::vector<int> launched;
  contest.launch = [&](int ranks) {
    launched.push_back(ranks);
    return std::vector<std::string>{"env"};
  };
  const SplitOutcome outcome = run_split_contest(contest, [](const std::string&) {});
  EXPECT_EQ(launched, (std::vector<int>{1, 2}));
  EXPECT_DOUBLE_EQ(outcome.ratio.median, 1.25);
  EXPECT_DOUBLE_EQ(outcome.hidden.median, 0.8);
  EXPECT_DOUBLE_EQ(outcome.bytes_per_step, 4800.0 / 4);
  EXPECT_HAS(split_table(contest, outcome), "1.250 [1.250, 1.250] times as long");
  EXPECT_HAS(split_table(contest, outcome), "80 [80, 80] % of the time of its messages are hidden");
  EXPECT_EQ(split_record(contest, outcome).entries.size(), 2u);
}

}  // namespace
}  // namespace isobar::bench
