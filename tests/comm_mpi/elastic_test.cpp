// Worlds under a supervising launcher whose ranks are killed, with both libraries: the sums of the ranks left must be
// right again, and they must end normally. The worlds are runs of elastic_scenarios.cpp.
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "isobar/base/error.hpp"
#include "isobar/control/supervisor.hpp"

#include "tests/comm_mpi/launches.hpp"
#include "tests/temporary_folder.hpp"

namespace isobar::comm_mpi {
namespace {

struct Outcome {
  int code = -1;
  std::string told, printed;

  int count(const std::string& part) const {
    int found = 0;
    for (auto at = printed.find(part); at != printed.npos; at = printed.find(part, at + 1)) ++found;
    return found;
  }
};

std::ostream& operator<<(std::ostream& out, const Outcome& outcome) {
  return out << "exit " << outcome.code << ":\n" << outcome.told << outcome.printed;
}

class Elastic : public testing::TestWithParam<MpiLaunch> {
 protected:
  // A shell, so that the output of ranks goes to a file; the launcher itself has a time limit.
  static Outcome run(int ranks, int spares, const std::string& arguments, int ranks_per_node = 0) {
    const tests::TemporaryFolder folder;
    const std::string printed = (folder.path() / "printed").string();
    control::Supervision supervision{.ranks = {ranks, spares, 1}, .command = {}};
    supervision.command = {
        "sh", "-c",
        fmt::format("exec timeout -k 1 60 {} -n {} {} {} > {} 2>&1 < /dev/null", GetParam().elastic_launcher,
                    ranks + spares, GetParam().elastic, arguments, printed)};
    supervision.environment = {
        {"UCX_TLS", "tcp,self"}, {"UCX_NET_DEVICES", "lo"}, {"OMPI_MCA_btl", "vader,self"}, {"OMPI_MCA_pml", "ob1"}};
    if (ranks_per_node > 0)
      supervision.environment.emplace_back("ISOBAR_RANKS_PER_NODE", std::to_string(ranks_per_node));
    supervision.relaunches = 0;
    Outcome outcome;
    testing::internal::CaptureStderr();
    outcome.code = control::supervise(supervision);
    outcome.told = testing::internal::GetCapturedStderr();
    std::stringstream text;
    text << std::ifstream(printed).rdbuf();
    outcome.printed = text.str();
    return outcome;
  }

  static void expect_ended(const Outcome& outcome, int ranks, int epoch) {
    EXPECT_EQ(outcome.code, 0) << outcome;
    EXPECT_EQ(outcome.count(fmt::format(" of {} ended in epoch {}\n", ranks, epoch)), ranks) << outcome;
  }
};

TEST_P(Elastic, WithoutADeathAllEnd) { expect_ended(run(3, 1, "auto"), 3, 1); }

TEST_P(Elastic, SurvivorsGoOnWithRightSums) {
  for (const int victim : {2, 0})
    for (const auto& [algorithm, microseconds] : {std::pair("auto", 0), {"auto", 500}, {"ring", 1500}}) {
      SCOPED_TRACE(fmt::format("rank {}, {}, {} us into the round", victim, algorithm, microseconds));
      expect_ended(run(4, 0, fmt::format("{} {} 12 {}", algorithm, victim, microseconds)), 3, 2);
    }
}

TEST_P(Elastic, ASpareTakesThePlaceOfTheDead) { expect_ended(run(3, 1, "auto 1 5 200"), 3, 2); }

TEST_P(Elastic, RanksOfSeveralNodesGoOn) { expect_ended(run(4, 0, "auto 1 5 200", 2), 3, 2); }

TEST_P(Elastic, TwoDeathsAtOnce) {
  const Outcome outcome = run(4, 0, "ring 1 12 500 3 12 700");
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_EQ(outcome.count(" of 2 ended in epoch "), 2) << outcome;
}

TEST_P(Elastic, MemoryThatWasGivenUpIsNotWrittenAnyMore) { expect_ended(run(4, 0, "abandon"), 3, 2); }

TEST_P(Elastic, WhoIsMissedByOneRankStopsNobodyElse) { expect_ended(run(4, 0, "alone"), 3, 1); }

TEST_P(Elastic, AFailureIsToldOnceAndEndsAll) {
  const Outcome outcome = run(3, 1, "fails");
  EXPECT_NE(outcome.code, 0) << outcome;
  EXPECT_EQ(outcome.count("isobar: [rank 1] the disk is full\n"), 1) << outcome;
  EXPECT_EQ(outcome.count("isobar: "), 1) << outcome;
}

TEST_P(Elastic, WhoGivesUpEndsAllForARelaunch) {
  const Outcome outcome = run(3, 1, "gives_up");
  EXPECT_NE(outcome.code, 0) << outcome;
  EXPECT_NE(outcome.told.find("weights are late"), std::string::npos) << outcome;
  EXPECT_EQ(outcome.count("isobar: "), 0) << outcome;
}

INSTANTIATE_TEST_SUITE_P(Launchers, Elastic, testing::ValuesIn(mpi_launches()),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace isobar::comm_mpi
