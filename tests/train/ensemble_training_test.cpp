// Runs whose ranks each train a network by themselves and are judged by the mean of what they predict.
#include <gtest/gtest.h>

#include "isobar/checkpoint/member_snapshot.hpp"

#include "tests/expect_error.hpp"
#include "tests/train/recorder.hpp"

namespace isobar::train {
namespace {

using tests::error_of;

JobMaker ensemble_job(const std::filesystem::path& folder, std::vector<std::string> settings = {}, bool resume = false,
                      const char* strategy = "ensemble") {
  settings.insert(settings.begin(), {"data.batch=6", fmt::format("parallel.strategy={}", strategy)});
  return [=](int) {
    std::vector<const char*> texts;
    for (const std::string& setting : settings) texts.push_back(setting.c_str());
    Job job = small_job(folder, texts);
    job.resume = resume;
    return job;
  };
}

Ran trained_until(int steps, int ranks, const JobMaker& job) {
  Recorder recorder(steps);
  return run_on(ranks, job, recorder, [&](int) { return &recorder.stop; });
}

Ran ran(int ranks, const JobMaker& job) {
  Recorder recorder;
  return run_on(ranks, job, recorder);
}

// The first member of an ensemble is the network that one rank trains with a part of the batch, to rounding: its
// gradients are computed as parts of the mean over all samples.
TEST(EnsembleTraining, MembersDifferAndTheFirstIsThatOfOneRank) {
  const TemporaryFolder folder;
  const std::string plain = "optimizer=sgd(lr=0.05)";
  const Ran three = ran(3, ensemble_job(folder.path() / "three", {plain}));
  EXPECT_NE(three.weights[0], three.weights[1]);
  EXPECT_NE(three.weights[1], three.weights[2]);
  EXPECT_EQ(three.losses.size(), 3u * 11);  // 22 samples, each by all networks in every epoch
  const Ran one = ran(1, ensemble_job(folder.path() / "one", {plain, "data.batch=2"}));
  ASSERT_EQ(three.weights[0].size(), one.weights[0].size());
  for (std::size_t i = 0; i < one.weights[0].size(); ++i)
    EXPECT_NEAR(three.weights[0][i], one.weights[0][i], 1e-4) << i;
  const Ran solo = ran(1, ensemble_job(folder.path() / "solo", {plain, "data.batch=2"}, false, "solo"));
  EXPECT_EQ(one.losses, solo.losses);
}

TEST(EnsembleTraining, MembersMayShareTheSamples) {
  const TemporaryFolder folder;
  const Ran apart = ran(3, ensemble_job(folder.path() / "run", {}, false, "ensemble(data=share)"));
  EXPECT_NE(apart.weights[0], apart.weights[1]);
  EXPECT_EQ(apart.losses.size(), 3u * 3);
}

// The mean of the targets' predictions of three networks, and its squared error.
TEST(EnsembleTraining, IsJudgedByTheMeanPrediction) {
  const TemporaryFolder folder;
  const std::filesystem::path run = folder.path() / "run";
  const Ran all = ran(3, ensemble_job(run));
  const checkpoint::Snapshot saved = checkpoint::CheckpointFile(newest_in(run)).read();
  ASSERT_EQ(checkpoint::members_of(saved, parallel::member_weights), 3);
  const Job job = ensemble_job(run)(0);
  const graph::Plan plan = graph::make_plan(job.model.graph(10), {.phase = ops::Phase::inference});
  std::vector<double> mean(30);
  for (int member = 0; member < 3; ++member) {
    exec::ParamStore store(plan, 0);
    restore_weights(checkpoint::member_snapshot(saved, parallel::member_weights, member), store);
    EXPECT_EQ(plain_weights(store), all.weights[static_cast<std::size_t>(member)]);
    exec::Executor executor(plan, store);
    std::vector<float> x(720), y(30);
    for (std::int64_t i = 0; i < 10; ++i) {
      const std::vector<std::span<float>> out{std::span(x).subspan(i * 72, 72), std::span(y).subspan(i * 3, 3)};
      job.test_data->read(i, out);
    }
    executor.bind("x", x);
    executor.bind("y", y);
    executor.forward({.rows = 10});
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += executor.output("prediction")[i] / 3.0;
  }
  double error = 0;
  for (std::size_t i = 0; i < mean.size(); ++i) {
    EXPECT_NEAR(all.predictions[i], mean[i], 1e-5);
    error += (mean[i] - all.targets[i]) * (mean[i] - all.targets[i]) / 30;
  }
  EXPECT_NEAR(all.last.test.at("loss"), error, 1e-5);
}

TEST(EnsembleTraining, GoesOnToTheBit) {
  const TemporaryFolder folder;
  const std::pair<const char*, int> kinds[] = {{"ensemble", 3}, {"ensemble(data=share)", 2}, {"ensemble", 1}};
  for (const auto& [strategy, ranks] : kinds) {
    const std::filesystem::path place = folder.path() / fmt::format("{} on {}", strategy, ranks);
    const std::vector<std::string> settings{"model=dense_net(norm=true)"};
    const Ran whole = ran(ranks, ensemble_job(place / "whole", settings, false, strategy));
    for (const int steps : {2, 5}) {
      SCOPED_TRACE(fmt::format("{} on {} ranks, stopped after {} steps", strategy, ranks, steps));
      const std::filesystem::path run = place / std::to_string(steps);
      const Ran before = trained_until(steps, ranks, ensemble_job(run, settings, false, strategy));
      EXPECT_EQ(before.last.reason, End::Reason::interrupted);
      Ran after = ran(ranks, ensemble_job(run, settings, true, strategy));
      after.losses.insert(after.losses.begin(), before.losses.begin(), before.losses.end());
      EXPECT_EQ(after.losses, whole.losses);
      EXPECT_EQ(after.weights, whole.weights);
      EXPECT_EQ(after.predictions, whole.predictions);
      EXPECT_EQ(after.last.test, whole.last.test);
    }
  }
}

TEST(EnsembleTraining, OtherRanksAndStrategiesAreRefused) {
  const TemporaryFolder folder;
  const std::filesystem::path run = folder.path() / "run";
  trained_until(2, 3, ensemble_job(run));
  EXPECT_HAS(error_of([&] { ran(2, ensemble_job(run, {}, true)); }), "weights of the member");
  EXPECT_HAS(error_of([&] { ran(3, ensemble_job(run, {}, true, "sync")); }),
             "resume with the strategy it was made with");
  const std::filesystem::path other = folder.path() / "other";
  trained_until(2, 3, ensemble_job(other, {}, false, "sync"));
  EXPECT_HAS(error_of([&] { ran(3, ensemble_job(other, {}, true)); }), "weights of the member");
}

// Pictures show what was evaluated.
TEST(EnsembleTraining, ViewersSeeTheMean) {
  class Spectator final : public Sink {
   public:
    void end(const End& end) override {
      ASSERT_NE(end.viewer, nullptr);
      for (const std::int64_t sample : {0, 7}) {
        const View look = end.viewer->look(sample);
        for (std::size_t c = 0; c < 3; ++c)
          EXPECT_NEAR(look.prediction.numbers[c], end.predictions[static_cast<std::size_t>(sample) * 3 + c], 1e-6);
        EXPECT_GT(look.loss, 0);
        ++seen;
      }
    }
    int seen = 0;
  } spectator;
  const TemporaryFolder folder;
  const JobMaker job = ensemble_job(folder.path() / "run");
  comm::run_ranks(3, [&](comm::Comm& comm) {
    omp_set_num_threads(1);
    Trainer(job(comm.rank()), comm, {&spectator}).run();
  });
  EXPECT_EQ(spectator.seen, 2);
}

TEST(EnsembleTraining, RefusesWhatNeedsOneModel) {
  const TemporaryFolder folder;
  const auto refusal = [&](std::vector<std::string> settings) {
    return error_of([&] { ran(2, ensemble_job(folder.path() / "run", std::move(settings))); });
  };
  EXPECT_HAS(refusal({"train.sync_batch_norm=true"}), "train.sync_batch_norm");
  EXPECT_HAS(refusal({"data.batch=5"}), "cannot be shared equally by 2 ranks");
  EXPECT_HAS(refusal({"data.staging=store"}), "each network has its own");
  EXPECT_HAS(refusal({"train.deterministic=true"}), "deterministic must be false");
}

}  // namespace
}  // namespace isobar::train
