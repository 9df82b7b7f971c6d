// Runs whose ranks train at their own pace without servers: in pairs, or on one set of weights. What one rank does is
// known to the bit; of several it is known what they divide, save and refuse.
#include <gtest/gtest.h>

#include "tests/expect_error.hpp"
#include "tests/train/recorder.hpp"

namespace isobar::train {
namespace {

using tests::error_of;
using Settings = std::vector<const char*>;

const char* const free_strategies[] = {"strategy=gossip(kind=pairwise)", "strategy=hogwild"};

// With a rule whose steps add up.
Settings with_descent(Settings settings) {
  settings.insert(settings.begin(), "optimizer=sgd(lr=0.05, momentum=0.9)");
  return settings;
}

JobMaker job_in(const std::filesystem::path& folder, Settings settings, bool resume = false) {
  return [=](int) {
    Job job = small_job(folder, with_descent(settings));
    job.resume = resume;
    return job;
  };
}

TEST(FreeTraining, OneRankIsPlainTraining) {
  const TemporaryFolder folder;
  const Ran solo = run_on(1, folder.path() / "solo", with_descent({"model=dense_net(norm=true)", "strategy=solo"}));
  for (const char* const strategy : free_strategies) {
    const Ran ran = run_on(1, folder.path() / strategy, with_descent({"model=dense_net(norm=true)", strategy}));
    EXPECT_EQ(ran.losses, solo.losses) << strategy;
    EXPECT_EQ(ran.weights, solo.weights) << strategy;
    EXPECT_EQ(ran.predictions, solo.predictions) << strategy;
  }
}

TEST(FreeTraining, RanksDivideEveryBatch) {
  const TemporaryFolder folder;
  for (const char* const strategy : free_strategies) {
    SCOPED_TRACE(strategy);
    Recorder recorder;
    const std::filesystem::path run = folder.path() / strategy;
    const Ran ran = run_on(3, job_in(run, {strategy, "data.batch=6", "train.epochs=2"}), recorder);
    EXPECT_EQ(recorder.started.teams, 3);
    ASSERT_EQ(recorder.steps.size(), 2u * 3u);
    for (const StepDone& step : recorder.steps) EXPECT_EQ(step.samples, 2);
    EXPECT_EQ(ran.predictions.size(), 30u);
    // What is saved is what the first rank ends with.
    const checkpoint::Snapshot saved = checkpoint::CheckpointFile(newest_in(run)).read();
    std::map<std::string, std::span<const float>> parts;
    for (const checkpoint::Snapshot::Part& part : saved.parts)
      if (part.name.starts_with("weights/")) parts[part.name] = saved.values(part);
    std::vector<float> weights;
    for (const auto& [name, values] : parts) weights.insert(weights.end(), values.begin(), values.end());
    EXPECT_EQ(weights, ran.weights[0]);
  }
}

// From the one model of a checkpoint, on any number of ranks, with any strategy.
TEST(FreeTraining, GoesOnFromACheckpoint) {
  const TemporaryFolder folder;
  const std::pair<const char*, int> kinds[] = {
      {free_strategies[0], 3}, {free_strategies[0], 2}, {free_strategies[1], 3}, {"strategy=sync", 2}};
  int number = 0;
  for (const auto& [before, ranks_before] : kinds)
    for (const auto& [after, ranks_after] : kinds) {
      SCOPED_TRACE(fmt::format("{} on {}, then {} on {}", before, ranks_before, after, ranks_after));
      const std::filesystem::path run = folder.path() / std::to_string(number++);
      Recorder first(6), second;
      const Ran stopped = run_on(ranks_before, job_in(run, {before}), first, [&](int) { return &first.stop; });
      EXPECT_EQ(first.last.reason, End::Reason::interrupted);
      // All ranks go on from the model that was saved, of which a mean is taken again.
      const std::atomic<bool> at_once = true;
      Recorder nothing;
      const Ran opened = run_on(ranks_after, job_in(run, {after}, true), nothing, [&](int) { return &at_once; });
      for (const std::vector<float>& weights : opened.weights)
        for (std::size_t i = 0; i < weights.size(); ++i) ASSERT_NEAR(weights[i], stopped.weights[0][i], 1e-6);
      run_on(ranks_after, job_in(run, {after}, true), second);
      EXPECT_EQ(second.started.first_step, 6);
      EXPECT_EQ(second.last.reason, End::Reason::finished);
      EXPECT_EQ(first.losses.size() + second.losses.size(), 15u);
    }
}

TEST(FreeTraining, AnyRankCanStopTheRun) {
  const TemporaryFolder folder;
  for (const char* const strategy : free_strategies)
    for (int told = 0; told < 3; ++told) {
      const std::filesystem::path run = folder.path() / strategy / std::to_string(told);
      const std::atomic<bool> stop = true;
      Recorder recorder;
      const Ran ran = run_on(3, job_in(run, {strategy, "train.epochs=100000"}), recorder,
                             [&](int rank) { return rank == told ? &stop : nullptr; });
      EXPECT_EQ(ran.last.reason, End::Reason::interrupted);
      EXPECT_FALSE(newest_in(run).empty());
    }
}

// Checkpoints and evaluations in the middle of a run, by the first rank alone.
TEST(FreeTraining, SavesOnTheWay) {
  const TemporaryFolder folder;
  for (const char* const strategy : free_strategies) {
    Recorder recorder;
    run_on(4, job_in(folder.path() / strategy, {strategy, "checkpoint.every_steps=2", "checkpoint.background=false"}),
           recorder);
    EXPECT_EQ(recorder.last.reason, End::Reason::finished) << strategy;
    EXPECT_GE(recorder.checkpoints, 6) << strategy;
    EXPECT_EQ(recorder.epochs.size(), 3u) << strategy;
  }
}

TEST(FreeTraining, BadNumbersOfOneRankAreSkippedByIt) {
  const TemporaryFolder folder;
  for (const char* const strategy : free_strategies) {
    Recorder recorder;
    const Ran ran = run_on(3,
                           job_in(folder.path() / strategy, {strategy, "train.bad_numbers=skip", "train.epochs=1",
                                                             "train.skips_in_a_row=1000", "optimizer=sgd(lr=1e30)"}),
                           recorder);
    EXPECT_EQ(ran.last.reason, End::Reason::finished) << strategy;
    EXPECT_GT(recorder.bad.size(), 0u) << strategy;
  }
}

TEST(FreeTraining, WhatNeedsLockstepIsRefused) {
  const TemporaryFolder folder;
  for (const char* const strategy : free_strategies) {
    const auto refused = [&](const char* setting) {
      return error_of([&] { run_on(2, folder.path() / strategy / setting, with_descent({strategy, setting})); });
    };
    EXPECT_HAS(refused("train.sync_batch_norm=true"), "train.sync_batch_norm needs ranks that take their steps");
    EXPECT_HAS(refused("train.bad_numbers=rewind"), "train.bad_numbers = 'rewind' needs ranks that take their steps");
    EXPECT_HAS(refused("data.staging=store"), "data.staging: samples held by other ranks");
  }
}

}  // namespace
}  // namespace isobar::train
