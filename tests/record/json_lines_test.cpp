#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "isobar/record/run_record.hpp"
#include "isobar/record/sinks.hpp"

#include "tests/capture.hpp"
#include "tests/expect_error.hpp"

namespace isobar::record {
namespace {

using namespace isobar::tests;
namespace fs = std::filesystem;

constexpr std::int64_t steps_per_epoch = 4;

double loss_at(std::int64_t step) { return 1.0 / (3.0 * static_cast<double>(step)); }

void epoch_done(train::Sink& sink, std::int64_t step, double seconds) {
  sink.epoch({step / steps_per_epoch, step, loss_at(step), {{"loss", 0.1}, {"mae", 1e-7}}, seconds, seconds});
}

// Steps after `first` up to `last`; the last epoch's line may be missing, as when its evaluation was stopped.
void train(train::Sink& sink, const fs::path& folder, std::int64_t first, std::int64_t last, double seconds) {
  train::Start start;
  start.folder = folder;
  start.first_step = first;
  sink.start(start);
  for (std::int64_t step = first + 1; step <= last; ++step) {
    sink.step(
        {step, (step - 1) / steps_per_epoch + 1, (step - 1) % steps_per_epoch + 1, 2, loss_at(step), 1e-3, seconds, 0});
    if (step % steps_per_epoch == 0) epoch_done(sink, step, seconds);
  }
}

void whole(const fs::path& folder, double seconds) {
  const auto sink = json_lines();
  train(*sink, folder, 0, 8, seconds);
  sink->end({train::End::Reason::finished, 8, seconds, {{"loss", 0.1}}});
}

TEST(JsonLines, MetricsHoldWhatFollowsFromTheSeed) {
  const TemporaryFolder folder;
  whole(folder.path(), 0.125);
  const std::string metrics = text_of(folder / "metrics.jsonl");
  EXPECT_TRUE(
      metrics.starts_with(R"({"kind":"step","step":1,"epoch":1,"loss":0.3333333333333333,"learning_rate":0.001})"
                          "\n"))
      << metrics;
  EXPECT_NE(
      metrics.find(
          R"({"kind":"epoch","step":4,"epoch":1,"train_loss":0.08333333333333333,"test":{"loss":0.1,"mae":1e-07}})"
          "\n"),
      std::string::npos)
      << metrics;
  EXPECT_TRUE(metrics.ends_with(R"({"kind":"end","step":8,"reason":"finished","test":{"loss":0.1}})"
                                "\n"))
      << metrics;
  const std::string timing = text_of(folder / "timing.jsonl");
  EXPECT_NE(
      timing.find(
          R"({"kind":"step","step":1,"step_in_epoch":1,"samples":2,"seconds":0.125,"wait_seconds":0.0,"exchange_seconds":0.0,"bytes_sent":0})"),
      std::string::npos)
      << timing;
}

TEST(JsonLines, WhatGradientsAndMessagesCostIsTimedApartAndReadBack) {
  const TemporaryFolder folder;
  std::ofstream(folder / "recipe.toml") << "model = 'cosmoflow'\n";
  const auto sink = json_lines();
  train::Start start;
  start.folder = folder.path();
  sink->start(start);
  train::StepDone step{1, 1, 1, 2, 0.5, 1e-3, 1.0};
  step.costs.gradients = {.waited_seconds = 0.5, .busy_seconds = 0.75, .sums = 2, .traffic = {4, 64}};
  step.costs.messages = {.waited_seconds = 0.125, .busy_seconds = 0.25, .sums = 3, .traffic = {6, 128}};
  sink->step(step);
  step.step = 2;
  step.costs = {};
  sink->step(step);
  train::End end;
  end.exchange.messages = {.waited_seconds = 0.125, .busy_seconds = 0.25, .sums = 3, .traffic = {6, 128}};
  sink->end(end);
  const std::string timing = text_of(folder / "timing.jsonl");
  EXPECT_NE(
      timing.find(
          R"("gradients":{"waited_seconds":0.5,"busy_seconds":0.75,"sums":2,"messages_sent":4,"bytes_sent":64},)"
          R"("messages":{"waited_seconds":0.125,"busy_seconds":0.25,"sums":3,"messages_sent":6,"bytes_sent":128}})"
          "\n"),
      std::string::npos)
      << timing;
  const RunRecord run = read_run(folder.path());
  ASSERT_EQ(run.steps.size(), 2u);
  EXPECT_EQ(run.steps[0].costs.gradients.traffic.messages, 4);
  EXPECT_EQ(run.steps[0].costs.messages.traffic.bytes, 128);
  EXPECT_EQ(comm::hidden_share(run.exchange_costs().messages), 0.5);
  EXPECT_EQ(run.steps[1].costs.gradients.sums, 0);
  EXPECT_EQ(comm::hidden_share(run.steps[1].costs.messages), std::nullopt);
}

TEST(JsonLines, SkippedSamplesAndStagingAreTold) {
  const TemporaryFolder folder;
  const auto sink = json_lines();
  train::Start start;
  start.folder = folder.path();
  sink->start(start);
  train::EpochDone epoch{1, 4, 0.5};
  epoch.skipped = 3;
  epoch.test_skipped = 0;
  sink->epoch(epoch);
  train::End end;
  end.skipped = 3;
  end.staging = {{"train.bytes_read", 4096}};
  sink->end(end);
  EXPECT_NE(text_of(folder / "metrics.jsonl").find(R"("skipped":3,"test_skipped":0})"), std::string::npos);
  EXPECT_NE(text_of(folder / "timing.jsonl").find(R"("skipped":3,"staging":{"train.bytes_read":4096}})"),
            std::string::npos);
}

TEST(JsonLines, TimeDoesNotShowInMetrics) {
  const TemporaryFolder slow, fast;
  whole(slow.path(), 5);
  whole(fast.path(), 0.1);
  EXPECT_EQ(text_of(slow / "metrics.jsonl"), text_of(fast / "metrics.jsonl"));
  EXPECT_NE(text_of(slow / "timing.jsonl"), text_of(fast / "timing.jsonl"));
}

TEST(JsonLines, NumbersThatDifferInTheLastBitDiffer) {
  const TemporaryFolder folder;
  const auto sink = json_lines();
  train::Start start;
  start.folder = folder.path();
  sink->start(start);
  const double a = 0.1, b = std::nextafter(a, 1);
  sink->step({1, 1, 1, 1, a});
  sink->step({1, 1, 1, 1, b});
  sink->end({});
  const std::string text = text_of(folder / "metrics.jsonl");
  const auto end = text.find('\n');
  EXPECT_NE(text.substr(0, end), text.substr(end + 1, end));
}

TEST(JsonLines, ResumedRunEqualsAnUninterruptedOne) {
  const TemporaryFolder one, two;
  whole(one.path(), 1);
  for (const std::int64_t checkpoint : {3, 4, 5, 6}) {
    {
      const auto sink = json_lines();
      train(*sink, two.path(), 0, 6, 1);  // two steps beyond the checkpoint
      sink->end({train::End::Reason::interrupted, 6, 1});
    }
    std::ofstream(two / "metrics.jsonl", std::ios::app) << R"({"kind":"st)";  // torn by a crash
    {
      const auto sink = json_lines();
      train(*sink, two.path(), checkpoint, 8, 1);
      sink->end({train::End::Reason::finished, 8, 1, {{"loss", 0.1}}});
    }
    EXPECT_EQ(text_of(one / "metrics.jsonl"), text_of(two / "metrics.jsonl")) << checkpoint;
  }
}

// A run that is killed keeps what was written in the background: everything, once the writing thread has finished.
TEST(JsonLines, LinesAreWrittenWhileTheRunGoesOn) {
  const TemporaryFolder folder;
  const auto sink = json_lines();
  train(*sink, folder.path(), 0, 4, 1);
  EXPECT_NE(text_of(folder / "metrics.jsonl").find("\"epoch\",\"step\":4"), std::string::npos);
  sink->step({5, 2, 1, 2, 0.5});
  EXPECT_NE(text_of(folder / "metrics.jsonl").find("\"step\":5"), std::string::npos);
  EXPECT_NE(text_of(folder / "timing.jsonl").find("\"kind\":\"step\",\"step\":5"), std::string::npos);
}

TEST(JsonLines, AMissingFolderIsAnErrorNamingTheFile) {
  const TemporaryFolder folder;
  EXPECT_HAS(tests::error_of([&] { whole(folder / "not_there", 1); }), "not_there/metrics.jsonl: cannot be written: ");
}

TEST(JsonLines, OnAFullDiskTheRunGoesOnAndIsToldOnce) {
  const TemporaryFolder folder;
  fs::create_symlink("/dev/full", folder / "metrics.jsonl");
  fs::create_symlink("/dev/full", folder / "timing.jsonl");
  testing::internal::CaptureStderr();
  whole(folder.path(), 1);
  disk_summary()->end({});
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_HAS(told, "metrics.jsonl cannot be written: No space left on device; the run goes on, and tries again\n");
  EXPECT_HAS(told, "missing, since it could not be written: ");
  EXPECT_EQ(std::ranges::count(told, '\n'), 2) << told;
}

TEST(JsonLines, AnEpochHasTheResultsOfTheValidationSetBesideThoseOfTheTestSet) {
  const TemporaryFolder folder;
  const auto sink = json_lines();
  train::Start start;
  start.folder = folder.path();
  sink->start(start);
  train::EpochDone done{1, 4, 0.5, {}, 1, 1};
  sink->epoch(done);
  done = {2, 8, 0.5, {}, 1, 1};
  done.validation = {{"loss", 0.25}};
  done.validation_skipped = 3;
  sink->epoch(done);
  sink->end({});
  const std::string lines = text_of(folder / "metrics.jsonl");
  EXPECT_HAS(lines, R"("epoch":1,"train_loss":0.5,"test":{}})");
  EXPECT_HAS(lines, R"("epoch":2,"train_loss":0.5,"validation":{"loss":0.25},"test":{},"validation_skipped":3})");
}

}  // namespace
}  // namespace isobar::record
