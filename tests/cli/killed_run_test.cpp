// A run that is killed in the middle: its files can be read up to the last step that reached the disk.
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "isobar/record/run_record.hpp"

#include "tests/cli/launched.hpp"

namespace {

using namespace isobar;

std::size_t lines(const fs::path& file) {
  std::ifstream in(file);
  return static_cast<std::size_t>(std::count(std::istreambuf_iterator<char>(in), {}, '\n'));
}

TEST(KilledRun, IsReadUpToTheLastStepThatReachedTheDisk) {
  const TemporaryFolder folder;
  const fs::path run_folder = folder / "run";
  Launched launched(fmt::format("{} train {} --quiet --threads 1 --set 'folder=\"{}\"' --set train.epochs=20000 "
                                "--set report.trace_steps=100000 --set report.trace_mb=100000",
                                ISOBAR_PROGRAM, small_recipe(folder), run_folder.string()),
                    folder / "out");
  // Every step is traced, and so has gone through all sinks.
  ASSERT_TRUE(launched.wait_until([&] {
    if (lines(run_folder / "profile" / "rank0.jsonl") <= 20 || lines(run_folder / "metrics.jsonl") <= 20) return false;
    const auto events = record::read_trace(run_folder, 0);
    return !events.empty() && events.back().step > 20;
  })) << launched.outcome(0);
  launched.send(SIGKILL);
  EXPECT_EQ(launched.outcome(60).code, 128 + SIGKILL);

  const record::RunRecord run = record::read_run(run_folder);
  EXPECT_TRUE(run.described) << "run.json";
  EXPECT_EQ(run.ranks, 1);
  EXPECT_FALSE(run.plan.empty());
  EXPECT_TRUE(run.reason.empty()) << "it did not end";
  ASSERT_GE(run.steps.size(), 15u);
  for (std::size_t i = 0; i < run.steps.size(); ++i) EXPECT_EQ(run.steps[i].step, static_cast<std::int64_t>(i) + 1);

  ASSERT_EQ(run.by_rank.size(), 1u);
  const auto& profiled = run.by_rank[0].steps;
  ASSERT_GE(profiled.size(), 19u);
  std::set<std::int64_t> traced;
  std::map<std::int64_t, double> seconds;
  for (const record::TraceEvent& event : record::read_trace(run_folder, 0)) {
    traced.insert(event.step);
    if (event.lane == Lane::main) seconds[event.step] += event.seconds;
  }
  // Files reach the disk one by one: the last steps may be in one file and not yet in another.
  ASSERT_GE(traced.size(), 19u);
  for (std::size_t i = 0; i < profiled.size() && profiled[i].step < *traced.rbegin(); ++i) {
    EXPECT_TRUE(traced.contains(profiled[i].step)) << profiled[i].step;
    EXPECT_NEAR(seconds[profiled[i].step], profiled[i].seconds, 0.01 * profiled[i].seconds);
  }
}

}  // namespace
