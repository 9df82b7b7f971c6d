// Ranks that die at every message and in every phase of a run: the others
// finish it, and it is the same run.
#include <gtest/gtest.h>

#include "isobar/train/batching.hpp"

#include "tests/run/crew_run.hpp"
#include "tests/train/cut_job.hpp"

namespace isobar::train {
namespace {

using comm::PlannedDeath;

// Two epochs of two steps, evaluated: short, because it runs hundreds of times.
const std::vector<const char*> brief{"data.batch=8", "train.epochs=2", "model=dense_net(norm=true)",
                                     "data.test=noise(shape=[6, 6, 2], targets=3, count=5, seed=2)"};

std::vector<const char*> with(std::vector<const char*> settings, std::initializer_list<const char*> more) {
  settings.insert(settings.end(), more);
  return settings;
}

void expect_equal_survivors(const CrewRun& run) {
  ASSERT_FALSE(run.weights.empty());
  for (const auto& [rank, weights] : run.weights) EXPECT_EQ(weights, run.weights.begin()->second) << "rank " << rank;
}

// Every step and epoch once and in order, then the end.
void expect_whole_record(const CrewRun& run, int epochs, int steps_each) {
  std::vector<std::string> begun, wanted;
  for (int epoch = 1, step = 1; epoch <= epochs; ++epoch) {
    for (int i = 0; i < steps_each; ++i) wanted.push_back(fmt::format("step {} ", step++));
    wanted.push_back(fmt::format("epoch {} ", epoch));
  }
  wanted.push_back(fmt::format("end {} finished", epochs * steps_each));
  for (std::size_t i = 0; i < run.lines.size(); ++i)
    begun.push_back(run.lines[i].substr(0, i < wanted.size() ? wanted[i].size() : std::string::npos));
  EXPECT_EQ(begun, wanted);
}

TEST(Sessions, WithoutADeathThereIsOne) {
  const TemporaryFolder folder;
  const CrewRun run = run_in_crew(folder.path() / "run", {.ranks = 3, .spares = 1, .settings = brief});
  EXPECT_TRUE(run.end.died.empty());
  EXPECT_EQ(run.weights.size(), 3u);
  EXPECT_TRUE(run.changes.empty());
  expect_equal_survivors(run);
  expect_whole_record(run, 2, 2);
}

// Ranks go on in whole replicas.
TEST(Sessions, WithASplitTheRanksThatAreLeftFormReplicas) {
  struct Case {
    int ranks, spares;
    std::size_t left;
  };
  const auto job = [](const std::filesystem::path& folder) {
    return map_job(folder, {.split = slabs(2), .settings = {"data.batch=8", "train.epochs=2"}});
  };
  const TemporaryFolder folder;
  const auto undisturbed = train_maps(1, folder.path() / "whole", {.settings = {"data.batch=8", "train.epochs=2"}});
  int number = 0;
  for (const Case& c : {Case{4, 1, 4}, Case{4, 0, 2}, Case{2, 1, 2}}) {
    for (const std::int64_t message : {30, 60, 90}) {
      const CrewRun run =
          run_in_crew(folder.path() / std::to_string(number++), {.ranks = c.ranks, .spares = c.spares, .job = job},
                      {PlannedDeath{.rank = 1, .message = message}});
      EXPECT_FALSE(run.end.gave_up) << *run.end.gave_up;
      ASSERT_EQ(run.end.died.size(), 1u);
      EXPECT_EQ(run.weights.size(), c.left);
      expect_equal_survivors(run);
      expect_whole_record(run, 2, 2);
      const std::vector<float>& weights = run.weights.begin()->second;
      for (std::size_t i = 0; i < weights.size(); ++i) ASSERT_NEAR(weights[i], undisturbed.weights[0][i], 1e-5);
    }
  }
}

TEST(Sessions, WithFewerRanksThanAReplicaHasTheRunIsGivenUp) {
  const TemporaryFolder folder;
  const auto job = [](const std::filesystem::path& run) { return map_job(run, {.split = slabs(2)}); };
  const CrewRun run =
      run_in_crew(folder.path() / "run", {.ranks = 2, .job = job}, {PlannedDeath{.rank = 1, .message = 60}});
  ASSERT_TRUE(run.end.gave_up);
  EXPECT_NE(run.end.gave_up->find("1 rank is left of a run whose model is cut over 2"), std::string::npos)
      << *run.end.gave_up;
}

struct SessionsCase {
  int ranks, spares, dies;
  bool deterministic;
  int stride;
};

class DeathAtEveryMessage : public testing::TestWithParam<SessionsCase> {};

TEST_P(DeathAtEveryMessage, IsSurvived) {
  const auto [ranks, spares, dies, deterministic, stride] = GetParam();
  const TemporaryFolder folder;
  const CrewSetting setting{
      .ranks = ranks,
      .spares = spares,
      .settings = with(brief, {deterministic ? "train.deterministic=true" : "train.deterministic=false"})};
  const CrewRun whole = run_in_crew(folder.path() / "whole", setting);
  int survived = 0;
  for (std::int64_t message = 0;; message += stride) {
    SCOPED_TRACE(fmt::format("rank {} dies at message {}", dies, message));
    const std::filesystem::path path = folder.path() / std::to_string(message);
    const CrewRun run = run_in_crew(path, setting, {PlannedDeath{.rank = dies, .message = message}});
    EXPECT_FALSE(run.end.gave_up) << *run.end.gave_up;
    expect_equal_survivors(run);
    expect_whole_record(run, 2, 2);
    if (run.end.died.empty()) break;
    ++survived;
    EXPECT_FALSE(run.weights.contains(dies));
    if (deterministic) {
      EXPECT_EQ(run.lines, whole.lines);
      EXPECT_EQ(run.weights.begin()->second, whole.weights.begin()->second);
    }
    if (testing::Test::HasFailure()) break;
    std::filesystem::remove_all(path);
  }
  EXPECT_GT(survived, 10);
}

INSTANTIATE_TEST_SUITE_P(All, DeathAtEveryMessage,
                         testing::Values(SessionsCase{2, 0, 0, true, 1}, SessionsCase{2, 0, 1, true, 3},
                                         SessionsCase{2, 1, 0, true, 3}, SessionsCase{4, 0, 0, true, 5},
                                         SessionsCase{4, 0, 2, true, 5}, SessionsCase{4, 2, 1, true, 5},
                                         SessionsCase{3, 0, 0, false, 3}, SessionsCase{3, 0, 2, false, 5},
                                         SessionsCase{5, 1, 0, false, 7}, SessionsCase{5, 0, 3, false, 7}),
                         [](const auto& tested) {
                           const SessionsCase& c = tested.param;
                           return fmt::format("Rank{}Of{}With{}Spares{}", c.dies, c.ranks, c.spares,
                                              c.deterministic ? "Deterministic" : "");
                         });

// By what a rank was about to do.
PlannedDeath when(int rank, std::string part) {
  return {.rank = rank,
          .note = [part = std::move(part)](const std::string& what) { return what.find(part) != std::string::npos; }};
}

TEST(Sessions, ADeathInAnyPhaseIsSurvived) {
  const TemporaryFolder folder;
  const CrewSetting setting{.ranks = 4, .spares = 1, .settings = with(brief, {"train.deterministic=true"})};
  const CrewRun whole = run_in_crew(folder.path() / "whole", setting);
  for (const char* phase :
       {"staging the data", "waiting for the input of step 1", "waiting for the input of step 3", "step 2",
        "step 4: computing", "evaluation after epoch 1", "evaluation after epoch 2", "checkpoint after step 4"})
    for (const int rank : {0, 3}) {
      SCOPED_TRACE(fmt::format("rank {} dies during {}", rank, phase));
      const CrewRun run = run_in_crew(folder.path() / phase / std::to_string(rank), setting, {when(rank, phase)});
      EXPECT_EQ(run.end.died, std::vector{rank});
      EXPECT_EQ(run.lines, whole.lines);
      expect_equal_survivors(run);
      EXPECT_EQ(run.weights.begin()->second, whole.weights.begin()->second);
    }
}

TEST(Sessions, TwoDeathsAreTwoChanges) {
  const TemporaryFolder folder;
  const CrewSetting setting{.ranks = 4, .settings = with(brief, {"data.batch=4", "train.epochs=3"})};
  const CrewRun run =
      run_in_crew(folder.path() / "run", setting, {when(1, "step 3: computing"), when(0, "step 7: computing")});
  EXPECT_EQ(run.end.died, (std::vector{1, 0}));
  ASSERT_EQ(run.changes.size(), 2u);
  EXPECT_EQ(run.changes[0].left, std::vector{1});
  EXPECT_EQ(run.changes[0].step, 2);
  EXPECT_EQ(run.changes[1].members, (std::vector{2, 3}));
  EXPECT_EQ(run.changes[1].step, 6);
  expect_whole_record(run, 3, 5);
  expect_equal_survivors(run);
}

TEST(Sessions, DeathsDuringARecoveryAreSurvivedToo) {
  const TemporaryFolder folder;
  const CrewSetting setting{.ranks = 4, .spares = 2, .settings = with(brief, {"train.deterministic=true"})};
  const CrewRun whole = run_in_crew(folder.path() / "whole", setting);
  for (const int second : {0, 2, 4})
    for (const char* phase : {"state of rank", "staging the data"}) {
      // The second rank dies when the group is formed again, not in the first staging.
      int stagings = 0;
      const PlannedDeath later{.rank = second, .note = [&, part = std::string(phase)](const std::string& what) {
                                 return what.find(part) != std::string::npos &&
                                        (second == 4 || what != "staging the data" || ++stagings == 2);
                               }};
      SCOPED_TRACE(fmt::format("rank {} dies during {}", second, phase));
      const CrewRun run =
          run_in_crew(folder.path() / fmt::format("{} {}", second, phase), setting, {when(1, "step 3: comp"), later});
      EXPECT_EQ(run.end.died, (std::vector{1, second}));
      EXPECT_EQ(run.lines, whole.lines);
      expect_equal_survivors(run);
    }
}

TEST(Sessions, ASpareTakesThePlace) {
  const TemporaryFolder folder;
  const CrewSetting setting{.ranks = 3, .spares = 1, .settings = brief};
  const CrewRun run = run_in_crew(folder.path() / "run", setting, {when(2, "step 3: computing")});
  ASSERT_EQ(run.changes.size(), 1u);
  EXPECT_EQ(run.changes[0].joined, std::vector{3});
  EXPECT_EQ(run.changes[0].str(), "rank 2 left, rank 3 takes its place; 3 ranks go on after step 2");
  EXPECT_TRUE(run.weights.contains(3));
  expect_equal_survivors(run);
}

// Two of three work; the third stands by, and works when one of the two dies.
TEST(Sessions, RanksThatAreTooManyStandBy) {
  const TemporaryFolder folder;
  const CrewSetting setting{.ranks = 4, .settings = with(brief, {"train.deterministic=true"})};
  const CrewRun whole = run_in_crew(folder.path() / "whole", setting);
  const CrewRun run =
      run_in_crew(folder.path() / "run", setting, {when(3, "step 2: computing"), when(0, "step 4: computing")});
  ASSERT_EQ(run.changes.size(), 2u);
  EXPECT_EQ(run.changes[0].members, (std::vector{0, 1}));
  EXPECT_EQ(run.changes[1].members, (std::vector{1, 2}));
  EXPECT_EQ(run.lines, whole.lines);
  expect_equal_survivors(run);
}

TEST(Sessions, TheGlobalBatchStaysWhatItWas) {
  const TemporaryFolder folder;
  const CrewSetting setting{.ranks = 4, .settings = with(brief, {"data.batch=0", "data.batch_per_rank=2"})};
  const CrewRun run = run_in_crew(folder.path() / "run", setting, {when(1, "step 2: computing")});
  EXPECT_GT(run.batches.size(), 4u);
  for (const std::int64_t batch : run.batches) EXPECT_EQ(batch, 8);
  expect_whole_record(run, 2, 2);
}

// When all working ranks have died, no rank has the state: a rank that never worked opens the run again.
TEST(Sessions, WithoutAStateTheRunIsOpenedAnew) {
  const TemporaryFolder folder;
  const CrewSetting setting{.ranks = 1, .spares = 1, .settings = brief};
  const CrewRun whole = run_in_crew(folder.path() / "whole", setting);
  const CrewRun run = run_in_crew(folder.path() / "run", setting, {when(0, "step 3: computing")});
  EXPECT_EQ(run.end.died, std::vector{0});
  EXPECT_TRUE(run.weights.contains(1));
  EXPECT_EQ(run.lines, whole.lines);
}

TEST(Sessions, AStrategyWithStepsUnderWayIsGivenUp) {
  const TemporaryFolder folder;
  const CrewSetting setting{.ranks = 3, .spares = 1, .settings = with(brief, {"strategy=lagged(k=1)"})};
  const CrewRun run = run_in_crew(folder.path() / "run", setting, {when(1, "step 3: computing")});
  ASSERT_TRUE(run.end.gave_up);
  EXPECT_NE(run.end.gave_up->find("lagged by 1"), std::string::npos) << *run.end.gave_up;
  EXPECT_TRUE(run.weights.empty());
}

// The rank that was asked to stop dies on the way to the checkpoint: the agreed stop still happens.
TEST(Sessions, WhoHasAgreedToStopStops) {
  const TemporaryFolder folder;
  const CrewSetting setting{.ranks = 3, .settings = brief, .stop_at = 3};
  const CrewRun run = run_in_crew(folder.path() / "run", setting, {when(0, "checkpoint after step 3")});
  EXPECT_EQ(run.end.died, std::vector{0});
  ASSERT_EQ(run.reasons.size(), 2u);
  for (const End::Reason reason : run.reasons) EXPECT_EQ(reason, End::Reason::interrupted);
  EXPECT_EQ(run.lines.back(), "end 3 interrupted");
}

TEST(Sessions, WhatADeathLeavesBehindIsTrainedAsWithout) {
  const TemporaryFolder folder;
  const CrewSetting setting{.ranks = 3, .settings = with(brief, {"model=dense_net"})};
  const CrewRun whole = run_in_crew(folder.path() / "whole", setting);
  const CrewRun run = run_in_crew(folder.path() / "run", setting, {when(0, "step 2: computing")});
  const std::vector<float>&a = whole.weights.at(1), &b = run.weights.at(1);
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 2e-5) << i;
}

}  // namespace
}  // namespace isobar::train
