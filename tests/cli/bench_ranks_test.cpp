// What `isobar bench` measures on several ranks.
#include "tests/cli/launched.hpp"

namespace {

class BenchRanks : public testing::TestWithParam<LaunchKind> {};

TEST_P(BenchRanks, SumsBesideTheLibrarys) {
  const TemporaryFolder folder;
  Launched launched(GetParam().words + " 2 " + GetParam().program + " bench sums --bytes 1000,100000 --rounds 2",
                    folder / "out");
  const Outcome outcome = launched.outcome(120);
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_SHOWS(outcome, "sums over 2 ranks");
  EXPECT_SHOWS(outcome, "times as fast");
}

TEST_P(BenchRanks, ItStartsTheRanksItself) {
  const TemporaryFolder folder;
  const std::string record = folder / "record.jsonl";
  Launched launched(GetParam().program + " bench sums ranks --alone --bytes 1000 --rounds 1 --rank-model " +
                        "'cosmoflow(size=32)' --record " + record,
                    folder / "out");
  const Outcome outcome = launched.outcome(120);
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_SHOWS(outcome, "weak scaling: efficiency");
  std::ifstream in(record);
  std::string sums, ranks;
  EXPECT_TRUE(std::getline(in, sums) && std::getline(in, ranks)) << "one line for each row";
}

INSTANTIATE_TEST_SUITE_P(Launchers, BenchRanks, testing::ValuesIn(launch_kinds()),
                         [](const auto& kind) { return kind.param.name; });

}  // namespace
