#include "isobar/bench/sums.hpp"

#include <gtest/gtest.h>

#include "isobar/comm/local_comm.hpp"

#include "tests/expect_error.hpp"

namespace isobar::bench {
namespace {

using namespace isobar::tests;

TEST(Sums, AreTimedOnAllRanksAlike) {
  std::vector<std::vector<SumOutcome>> all(3);
  std::string table;
  std::vector<Record> records;
  comm::run_ranks(
      3,
      [&](comm::Comm& comm) {
        SumContest contest;
        contest.bytes = {1000, 64000};
        contest.rounds = 3;
        auto& mine = all[static_cast<std::size_t>(comm.rank())];
        mine = measure_sums(comm, contest);
        if (comm.rank() != 0) return;
        table = sums_table(mine, comm, "auto", "nobody");
        records = sums_records(mine, comm.size(), "auto", "nobody", contest.rounds);
      },
      3);
  for (const auto& outcomes : all) {
    ASSERT_EQ(outcomes.size(), 2u);
    EXPECT_EQ(outcomes[1].bytes, 64000u);
    EXPECT_GT(outcomes[0].ours.median, 0);
    EXPECT_EQ(outcomes[0].ours.median, all[0][0].ours.median) << "the slowest rank counts, and all agree on it";
    EXPECT_EQ(outcomes[0].ratio.median, 0) << "threads have no library to compare with";
  }
  EXPECT_HAS(table, "sums over 3 ranks");
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[1].bytes, 64000);
  EXPECT_HAS(records[1].problem, "over 3 ranks");
}

}  // namespace
}  // namespace isobar::bench
