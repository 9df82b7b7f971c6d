// `isobar bench` can measure the cost of recording a run; how large it is does not matter here.
#include <fstream>

#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"

namespace {

TEST(BenchSinks, ComparesARunThatRecordsItselfWithOneThatDoesNot) {
  const TemporaryFolder folder;
  const std::string record = folder / "record.jsonl", scratch = folder / "scratch";
  const Outcome outcome = run_isobar(
      "bench sinks --alone --rounds 2 --threads 1 --sink-model 'cosmoflow(size=8, width=4, layers=2)' "
      "--record " +
      record + " --scratch " + scratch);
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_SHOWS(outcome, "a step of a run that records nothing");
  EXPECT_SHOWS(outcome, "aim: at most 1.01");
  std::ifstream in(record);
  std::string line;
  int rows = 0;
  for (; std::getline(in, line); ++rows)
    EXPECT_GT(nlohmann::json::parse(line).at("speedup").at("median").get<double>(), 0.2) << line;
  EXPECT_EQ(rows, 2) << "with all sinks, and with every step traced";
  EXPECT_TRUE(fs::is_empty(scratch)) << "nothing is left behind";
}

TEST(BenchSinks, ComparesARunThatSavesItselfWithOneThatDoesNot) {
  const TemporaryFolder folder;
  const std::string record = folder / "record.jsonl", scratch = folder / "scratch";
  const Outcome outcome = run_isobar(
      "bench saves --alone --rounds 2 --threads 1 --sink-model 'cosmoflow(size=8, width=4, layers=2)' --record " +
      record + " --scratch " + scratch);
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_SHOWS(outcome, "with a checkpoint every 10 steps");
  EXPECT_SHOWS(outcome, "aim: at most 1.02");
  std::ifstream in(record);
  EXPECT_GT(nlohmann::json::parse(in).at("speedup").at("median").get<double>(), 0.2);
  EXPECT_TRUE(fs::is_empty(scratch)) << "nothing is left behind";
}

}  // namespace
