// Bad numbers appear in everything that reports a run: lines, progress, summary, page, card and watch.
#include <gtest/gtest.h>

#include "isobar/disk/text_file.hpp"
#include "isobar/record/run_follower.hpp"
#include "isobar/record/sinks.hpp"
#include "isobar/report/page.hpp"
#include "isobar/report/run_card.hpp"

#include "tests/capture.hpp"
#include "tests/expect_error.hpp"

namespace isobar::report {
namespace {

using namespace isobar::tests;
constexpr const char* found = "the loss is nan";

// One step is skipped, after another the run goes back; then it ends normally.
void tell(train::Sink& sink, const std::filesystem::path& folder, bool bad = true) {
  train::Start start;
  start.folder = folder;
  start.epochs = 1;
  start.steps_per_epoch = 4;
  start.good_state_bytes = bad ? 3'000'000 : 0;
  sink.start(start);
  const train::BadSteps one{1, 0, 1}, two{2, 1, 0.5};
  sink.step({1, 1, 1, 2, 0.5, 1e-3, 0.5, 0});
  if (bad) sink.bad_step({2, 1, found, {}, one});
  train::StepDone third{3, 1, 3, 2, 0.25, 1e-3, 0.5, 0};
  if (bad) third.bad = one;
  sink.step(third);
  if (bad) sink.bad_step({4, 1, found, 1, two});
  train::EpochDone epoch{1, 4, 0.3, {{"loss", 0.5}, {"mae", 0.125}}, 2, 1};
  train::End end{train::End::Reason::finished, 4, 3, {{"loss", 0.5}, {"mae", 0.125}}};
  if (bad) epoch.bad = end.bad = two;
  sink.epoch(epoch);
  sink.end(end);
}

std::filesystem::path bad_steps_written(const std::filesystem::path& folder, bool bad = true) {
  disk::write_text(folder / "recipe.toml",
                   "model = \"cosmoflow(size=32)\"\n[train]\nepochs = 1\nmetrics = [\"mae\"]\n");
  tell(*record::json_lines(), folder, bad);
  return folder;
}

TEST(BadSteps, AreCountedInWords) {
  EXPECT_EQ(train::BadSteps{}.str(), "");
  EXPECT_EQ((train::BadSteps{1, 0, 1}.str()), "1 step with bad numbers");
  EXPECT_EQ((train::BadSteps{3, 2, 0.25}.str()), "3 steps with bad numbers, 2 rewinds, learning rate x 0.25");
}

TEST(BadSteps, HaveLinesOfTheirOwn) {
  const TemporaryFolder folder;
  const std::string metrics = text_of(bad_steps_written(folder.path()) / "metrics.jsonl");
  EXPECT_HAS(metrics, R"({"kind":"bad_step","step":2,"epoch":1,"found":"the loss is nan","bad_steps":1,"rewinds":0,)");
  EXPECT_HAS(metrics, R"("found":"the loss is nan","back_to":1,"bad_steps":2,"rewinds":1,"rate_scale":0.5})");
  EXPECT_HAS(metrics, R"("test":{"loss":0.5,"mae":0.125},"bad_steps":2,"rewinds":1,"rate_scale":0.5})");
  const TemporaryFolder good;
  EXPECT_EQ(text_of(bad_steps_written(good.path(), false) / "metrics.jsonl").find("bad"), std::string::npos);
}

TEST(BadSteps, AreShownWhileTheRunGoesOn) {
  const Capture screen;
  tell(*record::progress(screen.file(), false), {});
  const std::string text = screen.text();
  EXPECT_HAS(text, "step 2: the loss is nan; the step is skipped");
  EXPECT_HAS(text, "step 4: the loss is nan; back to the model of step 1, learning rate x 0.5 from now on");
  EXPECT_HAS(text, "\n2 steps with bad numbers, 1 rewind, learning rate x 0.5\n");
  EXPECT_HAS(text, "more for states to go back to");
}

TEST(BadSteps, AreInSummaryPageAndCard) {
  const TemporaryFolder folder;
  bad_steps_written(folder.path());
  tell(*record::run_summary(), folder.path());
  EXPECT_HAS(text_of(folder / "report.txt"), "2 steps with bad numbers, 1 rewind, learning rate x 0.5\n");
  const record::RunRecord run = record::read_run(folder.path());
  EXPECT_EQ(run.bad.steps, 2);
  const std::string html = page(run);
  EXPECT_HAS(html, "<b>2</b><span>steps dropped, with bad numbers</span>");
  EXPECT_HAS(html, "<b>1</b><span>rewinds, learning rate x 0.5</span>");
  std::string card;
  for (const CardRow& row : run_card(run)) card += row.figure + "\n";
  EXPECT_HAS(card, "(2 steps with bad numbers, 1 rewind, learning rate x 0.5)");
}

struct Listener final : train::Sink {
  void step(const train::StepDone& step) override { told += fmt::format("{} ", step.step); }
  void bad_step(const train::BadStep& bad) override {
    told += fmt::format("bad:{}:{} ", bad.step, bad.back_to.value_or(-1));
    EXPECT_EQ(bad.found, found);
  }
  void end(const train::End& end) override { told += "end:" + end.bad.str(); }
  std::string told;
};

TEST(BadSteps, AreToldToWhoFollowsTheFiles) {
  const TemporaryFolder folder;
  bad_steps_written(folder.path());
  record::RunFollower follower(folder.path());
  Listener listener;
  while (follower.poll(listener) != record::RunFollower::Change::none)
    ;
  EXPECT_EQ(listener.told, "1 bad:2:-1 3 bad:4:1 end:2 steps with bad numbers, 1 rewind, learning rate x 0.5");
}

}  // namespace
}  // namespace isobar::report
