#include "isobar/bench/rank_contest.hpp"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "isobar/base/error.hpp"

#include "tests/expect_error.hpp"
#include "tests/temporary_folder.hpp"

namespace isobar::bench {
namespace {

using namespace isobar::tests;

// A program that answers as ours would: a step always takes 0.5 s with exchange and 0.4 s without.
std::string rank_contest_stand_in(const TemporaryFolder& folder) {
  const std::filesystem::path path = folder / "stand_in";
  std::ofstream(path) << "#!/bin/sh\n"
                         "case \"$*\" in *'--exchange none'*) t=0.4;; *) t=0.5;; esac\n"
                         "echo ready stand-in\n"
                         "while read a n; do case $a in\n"
                         "  step) i=0; while [ $i -lt $n ]; do printf '%s ' $t; i=$((i+1)); done; echo;;\n"
                         "  exchange) echo 0.1 0.2 3 4800;;\n"
                         "esac; done\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path.string();
}

TEST(RankContest, ComparesTheSameProcessesWithAndWithoutExchange) {
  const TemporaryFolder folder;
  RankContest contest;
  contest.self = rank_contest_stand_in(folder);
  contest.rounds = 3;
  contest.steps = 4;
  std::vector<int> launched;
  contest.launch = [&](int ranks) {
    launched.push_back(ranks);
    return std::vector<std::string>{"env"};
  };
  const RankOutcome outcome = run_rank_contest(contest, [](const std::string&) {});
  EXPECT_EQ(launched, (std::vector<int>{2, 2, 1, 1}));
  EXPECT_DOUBLE_EQ(outcome.efficiency.median, 0.8);
  EXPECT_DOUBLE_EQ(outcome.one_rank.median, 1.25);
  EXPECT_DOUBLE_EQ(outcome.bytes_per_step, 4800.0 / 12);
  EXPECT_EQ(outcome.speedup.median, 0) << "nobody to compare with";
  EXPECT_HAS(rank_table(contest, outcome), "efficiency 0.800");
  const Record record = rank_record(contest, outcome);
  EXPECT_EQ(record.entries.size(), 1u) << "ours alone";
  EXPECT_EQ(record.facts.at(0), (std::pair<std::string, double>("efficiency", outcome.efficiency.median)));
}

}  // namespace
}  // namespace isobar::bench
