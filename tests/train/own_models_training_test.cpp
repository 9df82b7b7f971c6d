// Runs whose ranks each train a model of their own: what is evaluated and saved is one model, and a run that was
// stopped goes on to the bit.
#include <gtest/gtest.h>

#include "tests/expect_error.hpp"
#include "tests/train/recorder.hpp"

namespace isobar::train {
namespace {

using tests::error_of;

const char* const strategies_apart[] = {"local(steps=4)",
                                        "local(steps=2, outer=sgd(lr=0.7, momentum=0.9, nesterov=true))",
                                        "local(steps=3, from=1, codec=topk(share=0.2, least=8))",
                                        "easgd(period=3)",
                                        "gossip",
                                        "gossip(kind=push, period=2)"};

JobMaker apart_job(const std::filesystem::path& folder, std::string strategy, bool resume = false,
                   const char* model = "model=dense_net(norm=true)") {
  return [=](int) {
    Job job = small_job(folder, {model, ("parallel.strategy=" + strategy).c_str()});
    job.resume = resume;
    return job;
  };
}

Ran ran_until(int steps, int ranks, const JobMaker& job) {
  Recorder recorder(steps);
  return run_on(ranks, job, recorder, [&](int) { return &recorder.stop; });
}

TEST(OwnModelsTraining, GoesOnToTheBit) {
  const TemporaryFolder folder;
  int number = 0;
  for (const char* const strategy : strategies_apart) {
    const std::filesystem::path place = folder.path() / std::to_string(number++);
    Recorder all;
    const Ran whole = run_on(3, apart_job(place / "whole", strategy), all);
    for (const int steps : {5, 8}) {
      SCOPED_TRACE(fmt::format("{}, stopped after {} steps", strategy, steps));
      const std::filesystem::path run = place / std::to_string(steps);
      const Ran before = ran_until(steps, 3, apart_job(run, strategy));
      EXPECT_EQ(before.last.reason, End::Reason::interrupted);
      Recorder rest;
      Ran ran = run_on(3, apart_job(run, strategy, true), rest);
      ran.losses.insert(ran.losses.begin(), before.losses.begin(), before.losses.end());
      EXPECT_EQ(ran.losses, whole.losses);
      EXPECT_EQ(ran.weights, whole.weights);
      EXPECT_EQ(ran.predictions, whole.predictions);
      EXPECT_EQ(ran.last.test, whole.last.test);
    }
  }
}

// What the first rank writes is what all were judged by. Without batch norm, whose running statistics a run that has
// ended has as each rank gathered them.
TEST(OwnModelsTraining, EvaluatesAndSavesOneModel) {
  const TemporaryFolder folder;
  for (const char* const strategy : strategies_apart) {
    SCOPED_TRACE(strategy);
    const std::filesystem::path run = folder.path() / strategy;
    Recorder recorder;
    const Ran ran = run_on(3, apart_job(run, strategy, false, "model=dense_net"), recorder);
    for (const auto& weights : ran.weights) EXPECT_EQ(weights, ran.weights[0]);
    // In the order of their names, as those of the ranks are.
    const checkpoint::Snapshot saved = checkpoint::CheckpointFile(newest_in(run)).read();
    std::map<std::string, std::span<const float>> parts;
    for (const checkpoint::Snapshot::Part& part : saved.parts)
      if (part.name.starts_with("weights/")) parts[part.name] = saved.values(part);
    std::vector<float> weights;
    for (const auto& [name, values] : parts) weights.insert(weights.end(), values.begin(), values.end());
    EXPECT_EQ(weights, ran.weights[0]);
  }
}

// From and to strategies that keep one model, and on another number of ranks.
TEST(OwnModelsTraining, StrategiesAndRanksMayChangeOnTheWay) {
  const TemporaryFolder folder;
  const std::pair<const char*, int> kinds[] = {
      {"local(steps=4)", 3}, {"easgd(period=3)", 2}, {"gossip", 3}, {"sync", 2}, {"solo", 1}};
  for (const auto& [before, ranks_before] : kinds)
    for (const auto& [after, ranks_after] : kinds) {
      SCOPED_TRACE(fmt::format("{}, then {}", before, after));
      const std::filesystem::path run = folder.path() / fmt::format("{}-{}", before, after);
      const Ran first = ran_until(6, ranks_before, apart_job(run, before));
      Recorder second;
      const Ran ran = run_on(ranks_after, apart_job(run, after, true), second);
      EXPECT_EQ(second.started.first_step, 6);
      EXPECT_EQ(ran.last.reason, End::Reason::finished);
      EXPECT_EQ(first.losses.size() + ran.losses.size(), 15u);
      EXPECT_LT(ran.losses.back(), 2 * first.losses.front());
    }
}

TEST(OwnModelsTraining, OneRankIsPlainTraining) {
  const TemporaryFolder folder;
  Recorder plain;
  const Ran solo = run_on(1, apart_job(folder.path() / "solo", "solo"), plain);
  for (const char* const strategy : {"local(steps=4)", "gossip"}) {
    Recorder recorder;
    const Ran ran = run_on(1, apart_job(folder.path() / strategy, strategy), recorder);
    EXPECT_EQ(ran.losses, solo.losses) << strategy;
  }
}

TEST(OwnModelsTraining, AModelThatIsCutIsRefused) {
  const TemporaryFolder folder;
  const auto work = [&] {
    Job job = small_job(folder.path(), {"parallel.strategy=gossip"});
    parallel::place(2, *job.strategy, 4);
  };
  EXPECT_HAS(error_of(work), "every rank trains a whole model");
}

}  // namespace
}  // namespace isobar::train
