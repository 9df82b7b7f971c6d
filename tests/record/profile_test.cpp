#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "isobar/record/sinks.hpp"

#include "tests/record/traced.hpp"

namespace isobar::record {
namespace {

using namespace isobar::tests;

const CategoryTotal& of(const ProfiledStep& step, Category category) {
  return step.totals[static_cast<std::size_t>(category)];
}

TEST(Profile, AddsUpTheMainLaneAndFindsWhatWasHidden) {
  MadeStep made;
  const ProfiledStep step = profile_of(made.step(5, 100));
  EXPECT_EQ(step.step, 5);
  EXPECT_EQ(step.seconds, 4);
  EXPECT_EQ(of(step, Category::forward_convolution).events, 1);
  EXPECT_EQ(of(step, Category::forward_convolution).flops, 1e9);
  EXPECT_EQ(of(step, Category::communication).seconds, 0.5);
  EXPECT_EQ(of(step, Category::communication).bytes, 32);
  EXPECT_EQ(of(step, Category::input_output).seconds, 1);
  EXPECT_EQ(of(step, Category::idle).seconds, 0.5);
  // Sums take from 1 to 3.5; the rank waited from 3 on.
  EXPECT_DOUBLE_EQ(step.hidden_exchange_seconds, 2);
}

TEST(Profile, IsReadBackAsItWas) {
  const TemporaryFolder folder;
  std::ofstream(folder / "recipe.toml") << "model = \"m\"\n";
  MadeStep made;
  const auto sink = profile();
  EXPECT_TRUE(sink->on_every_rank());
  sink->start(made_start(folder.path(), 0, 2));
  sink->traced(made.step(2, 100));
  disk::flush_late_files();
  const RunRecord run = read_run(folder.path());  // the sink is still open, as if the run were killed
  ASSERT_EQ(run.by_rank.size(), 1u);
  EXPECT_EQ(run.by_rank[0].rank, 2);
  EXPECT_EQ(run.by_rank[0].node, 2);
  EXPECT_FALSE(run.by_rank[0].host.empty());
  ASSERT_EQ(run.by_rank[0].steps.size(), 1u);
  EXPECT_EQ(run.by_rank[0].steps[0].hidden_exchange_seconds, 2);
  const auto& totals = run.by_rank[0].steps[0].totals;
  for (int c = 0; c < category_count; ++c)
    EXPECT_EQ(totals[static_cast<std::size_t>(c)].seconds,
              of(profile_of(made.step(2, 100)), static_cast<Category>(c)).seconds);
}

TEST(Profile, ResumedDropsWhatCameLater) {
  const TemporaryFolder folder;
  MadeStep made;
  const auto first = profile();
  first->start(made_start(folder.path()));
  for (const std::int64_t step : {2, 4, 6}) first->traced(made.step(step, 100));
  disk::flush_late_files();
  std::ofstream(folder / "profile" / "rank0.jsonl", std::ios::app) << R"({"kind":"st)";
  std::ofstream(folder / "profile" / "rank1.jsonl") << "{}\n";
  const auto second = profile();
  second->start(made_start(folder.path(), 5));
  second->traced(made.step(7, 200));
  disk::flush_late_files();
  std::vector<std::int64_t> steps;
  for (const auto& line : read_json_lines(folder / "profile" / "rank0.jsonl"))
    if (line.at("kind") == "step") steps.push_back(line.at("step"));
  EXPECT_EQ(steps, (std::vector<std::int64_t>{2, 4, 7}));
  EXPECT_FALSE(std::filesystem::exists(folder / "profile" / "rank1.jsonl")) << "a rank that is no longer there";
}

TEST(Profile, ARankThatDoesNotSeeTheFolderWritesNothing) {
  const TemporaryFolder folder;
  const auto elsewhere = folder / "elsewhere";
  MadeStep made;
  for (const auto& sink : {profile().release(), chrome_trace(1 << 20).release()}) {
    const std::unique_ptr<train::Sink> owned(sink);
    sink->start(made_start(elsewhere, 0, 1));
    sink->traced(made.step(2, 100));
    sink->end({});
  }
  EXPECT_FALSE(std::filesystem::exists(elsewhere));
}

TEST(Profile, EveryRankOfARunLeavesOneThatAddsUp) {
  const TemporaryFolder folder;
  traced_run(folder.path(), 3, {"report.trace_steps=1000", "data.batch=6"});
  const RunRecord run = read_run(folder.path());
  ASSERT_EQ(run.by_rank.size(), 3u);
  double planned = 0;
  for (const PlannedStep& step : run.plan) planned += step.flops;
  EXPECT_GT(planned, 0);
  for (const RankRecord& rank : run.by_rank) {
    EXPECT_EQ(rank.steps.size(), 9u);
    for (const ProfiledStep& step : rank.steps) {
      double seconds = 0, flops = 0;
      for (const CategoryTotal& total : step.totals) {
        EXPECT_GE(total.seconds, 0);
        seconds += total.seconds;
        flops += total.flops;
      }
      EXPECT_NEAR(seconds, step.seconds, 1e-6 * step.seconds);
      EXPECT_EQ(flops - of(step, Category::optimizer).flops, planned);
      EXPECT_GE(step.hidden_exchange_seconds, 0);
      EXPECT_LE(step.hidden_exchange_seconds, step.seconds);
    }
  }
}

TEST(RunFacts, TellWhatIsKnownBeforeTheFirstStep) {
  const TemporaryFolder folder;
  traced_run(folder.path(), 2, {"report.trace_steps=3", "train.epochs=1"});
  const RunRecord run = read_run(folder.path());
  ASSERT_TRUE(run.described);
  EXPECT_EQ(run.command, "isobar train");
  EXPECT_EQ(run.versions.at(0).second, "1");
  EXPECT_EQ(run.machine.at(0).first, "cpu");
  EXPECT_EQ(run.started.size(), 20u);
  EXPECT_EQ(run.started.back(), 'Z');
  EXPECT_EQ(run.ranks, 2);
  EXPECT_EQ(run.global_batch, 4);
  EXPECT_EQ(run.train_samples, 22);
  EXPECT_EQ(run.steps_per_epoch, 5);
  EXPECT_EQ(run.planned_epochs, 1);
  EXPECT_EQ(run.fingerprint.size(), 16u);
  ASSERT_FALSE(run.inputs.empty());
  EXPECT_EQ(run.inputs[0], (std::pair<std::string, std::string>("x", "6x6x2")));
  ASSERT_GT(run.plan.size(), run.forward_steps);
  double most = 0;
  for (const PlannedStep& step : run.plan) most = std::max(most, step.live_bytes);
  EXPECT_GT(most, 0);
  EXPECT_LE(most, run.arena_bytes);
  EXPECT_NE(text_of(folder / "run.json").find("\"trace_steps\":3"), std::string::npos);
}

}  // namespace
}  // namespace isobar::record
