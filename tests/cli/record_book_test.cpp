// Rows of `isobar bench` are kept as soon as they are known.
#include "tests/cli/made_rows.hpp"

namespace {

TEST(RecordBook, MeasuresOperatorsAndKeepsThem) {
  const TemporaryFolder folder;
  const std::string record = folder / "deep/er/rows.jsonl", page = folder / "page.html";
  const std::string measure =
      "bench operators --only relu --only mse --alone --rounds 3 --threads 1 --record " + record;
  const Outcome first = run_isobar(measure);
  EXPECT_EQ(first.code, 0) << first;
  EXPECT_SHOWS(first, "operators: relu, forward");
  EXPECT_SHOWS(first, "operators: mse");
  const Outcome second = run_isobar(measure + " --threshold 1000 --html " + page + " --compare " + record);
  EXPECT_EQ(second.code, 0) << second;
  EXPECT_SHOWS(second, ", 0 only before, 0 only now");
  EXPECT_TRUE(fs::exists(page));
}

}  // namespace
