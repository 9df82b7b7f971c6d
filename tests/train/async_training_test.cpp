// Runs whose ranks go at their own pace, with parameter servers: what one worker does is known to the bit.
#include <gtest/gtest.h>

#include "tests/expect_error.hpp"
#include "tests/train/recorder.hpp"
#include "tests/train/spoilt_dataset.hpp"

namespace isobar::train {
namespace {

using tests::error_of;
using Settings = std::vector<const char*>;

JobMaker job_in(const std::filesystem::path& folder, const Settings& settings, bool resume = false) {
  return [=](int) {
    Job job = small_job(folder, settings);
    job.resume = resume;
    return job;
  };
}

const Settings normal{"model=dense_net(norm=true)"};

Settings with(Settings settings, const char* more) {
  settings.push_back(more);
  return settings;
}

void expect_same(const Ran& a, const Ran& b) {
  EXPECT_EQ(a.losses, b.losses);
  EXPECT_EQ(a.weights[0], b.weights[0]);
  EXPECT_EQ(a.predictions, b.predictions);
  EXPECT_EQ(a.targets, b.targets);
  ASSERT_EQ(a.epochs.size(), b.epochs.size());
  for (std::size_t i = 0; i < a.epochs.size(); ++i) EXPECT_EQ(a.epochs[i].test, b.epochs[i].test) << i;
}

TEST(AsyncTraining, OneWorkerIsPlainTraining) {
  const TemporaryFolder folder;
  const Ran alone = run_on(1, folder.path() / "alone", with(normal, "strategy=solo"));
  for (const char* strategy : {"strategy=async", "strategy=async(servers=2)"}) {
    const int ranks = std::string_view(strategy).ends_with("2)") ? 3 : 2;
    expect_same(run_on(ranks, folder.path() / std::to_string(ranks), with(normal, strategy)), alone);
  }
}

TEST(AsyncTraining, WorkersDivideEveryBatch) {
  const TemporaryFolder folder;
  Recorder recorder;
  const Ran ran = run_on(4, job_in(folder.path(), {"strategy=async", "data.batch=6", "train.epochs=2"}), recorder);
  EXPECT_EQ(recorder.started.ranks, 4);
  EXPECT_EQ(recorder.started.teams, 3);
  ASSERT_EQ(recorder.steps.size(), 2u * 3u);
  for (const StepDone& step : recorder.steps) EXPECT_EQ(step.samples, 2);
  EXPECT_EQ(ran.predictions.size(), 30u);
  // All take all of their steps: the servers count them.
  EXPECT_TRUE(ran.last.exchanged.starts_with("18 updates (rank 0: 6, rank 1: 6, rank 2: 6); gradients were "))
      << ran.last.exchanged;
  // And a run that goes on counts from there, not from the steps of one worker.
  const checkpoint::Snapshot kept = checkpoint::CheckpointFile(newest_in(folder.path())).read();
  ASSERT_EQ(kept.lists.size(), 1u);
  EXPECT_EQ(kept.lists[0].name, "updates by servers");
  EXPECT_EQ(kept.lists[0].numbers, std::vector<double>{18});
}

TEST(AsyncTraining, GoesOnToTheBitWithOneWorker) {
  const TemporaryFolder folder;
  const Settings async = with(normal, "strategy=async(servers=2)");
  const Ran whole = run_on(3, folder.path() / "whole", async);
  Recorder first(7), second;
  const std::filesystem::path run = folder.path() / "run";
  Ran stopped = run_on(3, job_in(run, async), first, [&](int) { return &first.stop; });
  EXPECT_EQ(stopped.last.reason, End::Reason::interrupted);
  Ran ran = run_on(3, job_in(run, async, true), second);
  ran.losses.insert(ran.losses.begin(), stopped.losses.begin(), stopped.losses.end());
  ran.epochs.insert(ran.epochs.begin(), stopped.epochs.begin(), stopped.epochs.end());
  expect_same(ran, whole);
}

// From and to training without servers, which one worker equals.
TEST(AsyncTraining, StrategiesMayChangeOnTheWay) {
  const TemporaryFolder folder;
  const Ran whole = run_on(1, folder.path() / "whole", normal);
  const std::pair<const char*, int> kinds[] = {{"strategy=async", 2}, {"strategy=sync", 1}, {"strategy=solo", 1}};
  for (const auto& [before, ranks_before] : kinds)
    for (const auto& [after, ranks_after] : kinds) {
      SCOPED_TRACE(fmt::format("{}, then {}", before, after));
      Recorder first(7), second;
      const std::filesystem::path run = folder.path() / fmt::format("{}-{}", before, after);
      Ran stopped = run_on(ranks_before, job_in(run, with(normal, before)), first, [&](int) { return &first.stop; });
      Ran ran = run_on(ranks_after, job_in(run, with(normal, after), true), second);
      ran.losses.insert(ran.losses.begin(), stopped.losses.begin(), stopped.losses.end());
      ran.epochs.insert(ran.epochs.begin(), stopped.epochs.begin(), stopped.epochs.end());
      expect_same(ran, whole);
    }
}

TEST(AsyncTraining, AnyNumberOfWorkersContinues) {
  const TemporaryFolder folder;
  for (const auto& [before, after] : {std::pair{3, 5}, {5, 3}, {2, 4}, {4, 2}}) {
    SCOPED_TRACE(fmt::format("{} ranks, then {}", before, after));
    const std::filesystem::path run = folder.path() / fmt::format("{}-{}", before, after);
    Recorder first(7), second;
    run_on(before, job_in(run, {"strategy=async"}), first, [&](int) { return &first.stop; });
    run_on(after, job_in(run, {"strategy=async"}, true), second);
    EXPECT_EQ(second.started.first_step, 7);
    EXPECT_EQ(second.last.reason, End::Reason::finished);
    EXPECT_EQ(first.losses.size() + second.losses.size(), 15u);
  }
}

// Two ranks add up a sum in one order, wherever they do it.
const std::pair<const char*, int> same_as_sync[] = {{"strategy=server", 3},
                                                    {"strategy=server(servers=2)", 4},
                                                    {"strategy=groups(of=2)", 3},
                                                    {"strategy=groups(of=2, servers=layer)", 5}};

TEST(ServedTraining, OneTeamTrainsAsWithoutServers) {
  const TemporaryFolder folder;
  const Ran together = run_on(2, folder.path() / "together", with(normal, "strategy=sync"));
  int run = 0;
  for (const auto& [strategy, ranks] : same_as_sync) {
    SCOPED_TRACE(strategy);
    expect_same(run_on(ranks, folder.path() / std::to_string(run++), with(normal, strategy)), together);
  }
}

TEST(ServedTraining, GoesOnToTheBit) {
  const TemporaryFolder folder;
  const Ran whole = run_on(2, folder.path() / "whole", with(normal, "strategy=sync"));
  int number = 0;
  for (const auto& [strategy, ranks] : same_as_sync) {
    SCOPED_TRACE(strategy);
    Recorder first(7), second;
    const std::filesystem::path run = folder.path() / std::to_string(number++);
    Ran stopped = run_on(ranks, job_in(run, with(normal, strategy)), first, [&](int) { return &first.stop; });
    EXPECT_EQ(stopped.last.reason, End::Reason::interrupted);
    Ran ran = run_on(ranks, job_in(run, with(normal, strategy), true), second);
    ran.losses.insert(ran.losses.begin(), stopped.losses.begin(), stopped.losses.end());
    ran.epochs.insert(ran.epochs.begin(), stopped.epochs.begin(), stopped.epochs.end());
    // A team between which and servers statistics travel goes on with their mean.
    if (std::string_view(strategy).starts_with("strategy=server")) expect_same(ran, whole);
    else EXPECT_EQ(ran.losses, whole.losses);
  }
}

TEST(ServedTraining, TeamsDivideEveryBatch) {
  const TemporaryFolder folder;
  const std::tuple<const char*, int, int, int> kinds[] = {{"strategy=groups(of=2)", 5, 2, 3},
                                                          {"strategy=stale(bound=1)", 3, 2, 3},
                                                          {"strategy=async(period=3)", 4, 3, 2},
                                                          {"strategy=easgd(centre=server, period=3)", 3, 2, 3},
                                                          {"strategy=server", 4, 1, 6}};
  int run = 0;
  for (const auto& [strategy, ranks, teams, samples] : kinds) {
    SCOPED_TRACE(strategy);
    Recorder recorder;
    const std::filesystem::path place = folder.path() / std::to_string(run++);
    const Ran ran = run_on(ranks, job_in(place, {strategy, "data.batch=6", "train.epochs=2"}), recorder);
    EXPECT_EQ(recorder.started.teams, teams);
    ASSERT_EQ(recorder.steps.size(), 2u * 3u);
    for (const StepDone& step : recorder.steps) EXPECT_EQ(step.samples, samples);
    EXPECT_EQ(ran.predictions.size(), 30u);
    EXPECT_HAS(ran.last.exchanged, "the server was busy");
  }
}

TEST(ServedTraining, TeamsOfSeveralRanksGoOn) {
  const TemporaryFolder folder;
  for (const char* strategy : {"strategy=groups(of=2)", "strategy=easgd(centre=server)", "strategy=stale"}) {
    SCOPED_TRACE(strategy);
    const std::filesystem::path run = folder.path() / std::string(strategy).substr(9, 5);
    Recorder first(7), second;
    run_on(5, job_in(run, with(normal, strategy)), first, [&](int) { return &first.stop; });
    run_on(5, job_in(run, with(normal, strategy), true), second);
    EXPECT_EQ(second.started.first_step, 7);
    EXPECT_EQ(second.last.reason, End::Reason::finished);
    EXPECT_EQ(first.losses.size() + second.losses.size(), 15u);
  }
}

TEST(ServedTraining, BadNumbersAreSkippedByAllWorkersAlike) {
  const TemporaryFolder folder;
  Recorder recorder;
  const Ran ran = run_on(3,
                         job_in(folder.path(), {"strategy=server", "train.bad_numbers=skip", "train.epochs=1",
                                                "train.skips_in_a_row=1000", "optimizer=sgd(lr=1e30)"}),
                         recorder);
  EXPECT_EQ(ran.last.reason, End::Reason::finished);
  EXPECT_GT(recorder.bad.size(), 0u);
}

// Whoever is told to stop: all workers end, and the first writes a checkpoint.
TEST(AsyncTraining, AnyRankCanStopTheRun) {
  const TemporaryFolder folder;
  for (int told = 0; told < 3; ++told) {
    const std::filesystem::path run = folder.path() / std::to_string(told);
    const std::atomic<bool> stop = true;
    Recorder recorder;
    const Ran ran = run_on(3, job_in(run, {"strategy=async", "train.epochs=100000"}), recorder,
                           [&](int rank) { return rank == told ? &stop : nullptr; });
    EXPECT_EQ(ran.last.reason, End::Reason::interrupted);
    EXPECT_FALSE(newest_in(run).empty());
  }
}

TEST(AsyncTraining, BadNumbersOfOneWorkerAreSkippedByIt) {
  const TemporaryFolder folder;
  Recorder recorder;
  const Ran ran = run_on(3,
                         job_in(folder.path(), {"strategy=async", "train.bad_numbers=skip", "train.epochs=1",
                                                "train.skips_in_a_row=1000", "optimizer=sgd(lr=1e30)"}),
                         recorder);
  EXPECT_EQ(ran.last.reason, End::Reason::finished);
  EXPECT_GT(recorder.bad.size(), 0u);
}

TEST(AsyncTraining, SamplesThatAnyWorkerLeavesOutAreCounted) {
  const TemporaryFolder folder;
  Recorder recorder;
  const auto maker = [&](int) {
    Job job = small_job(folder.path(), {"strategy=async(servers=2)", "data.bad_samples=skip", "data.batch=6",
                                        "data.train=noise(shape=[6, 6, 2], targets=3, count=24)"});
    spoil(job, [](std::int64_t sample, auto) {
      if (sample % 5 == 1) fail("sample {} cannot be read", sample);
    });
    return job;
  };
  const End last = run_on(5, maker, recorder).last;
  EXPECT_EQ(last.skipped, 3 * 5) << "1, 6, 11, 16 and 21 in each of three epochs";
  EXPECT_EQ(last.first_skipped.size(), 8u);
}

TEST(AsyncTraining, WhatNeedsLockstepIsRefused) {
  const TemporaryFolder folder;
  const auto refused = [&](Settings settings, int ranks = 3) {
    return error_of([&] { run_on(ranks, folder.path() / "refused", settings); });
  };
  const Settings async{"strategy=async"};
  EXPECT_HAS(refused(with(async, "train.sync_batch_norm=true")),
             "train.sync_batch_norm needs ranks that take their steps");
  EXPECT_HAS(refused(with(async, "train.bad_numbers=rewind")), "train.bad_numbers = 'rewind' needs weights");
  EXPECT_HAS(refused(with(async, "data.staging=store")), "data.staging: samples held by other ranks");
  EXPECT_HAS(refused({"strategy=server", "train.bad_numbers=rewind"}), "train.bad_numbers = 'rewind' needs weights");
  EXPECT_HAS(refused(async, 1), "needs 1 rank to keep the parameters and at least one that trains, but there is 1");
}

}  // namespace
}  // namespace isobar::train
