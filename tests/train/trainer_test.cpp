#include "isobar/train/trainer.hpp"

#include <cmath>
#include <fstream>
#include <omp.h>

#include <gtest/gtest.h>

#include "isobar/base/error.hpp"

#include "tests/train/small_job.hpp"

namespace isobar::train {
namespace {

// Keeps what the trainer said; can set a stop flag at a step.
class TrainerRecorder final : public Sink {
 public:
  explicit TrainerRecorder(std::int64_t stop_at = -1) : stop_at_(stop_at) {}
  void step(const StepDone& s) override {
    losses.push_back(s.loss);
    if (s.step == stop_at_) stop = true;
  }
  void epoch(const EpochDone& e) override { epochs.push_back(e); }
  void end(const End& e) override { reason = e.reason, predictions.assign(e.predictions.begin(), e.predictions.end()); }

  std::atomic<bool> stop = false;
  std::vector<double> losses;
  std::vector<EpochDone> epochs;
  std::vector<float> predictions;
  End::Reason reason{};

 private:
  std::int64_t stop_at_;
};

std::vector<float> weights_of(Trainer& trainer) {
  const auto all = trainer.store().all_weights();
  return {all.begin(), all.end()};
}

struct TrainerRan {
  std::vector<double> losses, test;
  std::vector<float> weights, predictions;
};

// Images that are cut, mirrored and freed of their mean on the way to the network of small_job().
const std::initializer_list<const char*> varied{
    "data.train=\"noise(shape=[8, 9, 2], targets=3, count=22, seed=1)\"",
    "data.test=\"noise(shape=[8, 9, 2], targets=3, count=10, seed=2)\"",
    "data.transforms=[\"subtract_mean\", \"crop(size=6)\", \"mirror\", \"scale(by=2)\"]", "data.readers=3"};

TrainerRan run_whole(int threads, std::initializer_list<const char*> settings = {}) {
  const int before = omp_get_max_threads();
  omp_set_num_threads(threads);
  const TemporaryFolder folder;
  TrainerRecorder recorder;
  Trainer trainer(small_job(folder.path() / "run", settings), {&recorder});
  EXPECT_EQ(trainer.run(), End::Reason::finished);
  omp_set_num_threads(before);
  TrainerRan ran{recorder.losses, {}, weights_of(trainer), recorder.predictions};
  for (const EpochDone& e : recorder.epochs) ran.test.push_back(e.test.at("mae"));
  return ran;
}

TEST(Trainer, OneSeedGivesTheSameBits) {
  const TrainerRan a = run_whole(2), b = run_whole(2);
  EXPECT_EQ(a.losses.size(), 15u);  // 22 samples, batch 4, the last incomplete batch is left out
  EXPECT_EQ(a.losses, b.losses);
  EXPECT_EQ(a.test, b.test);
  EXPECT_EQ(a.weights, b.weights);
  EXPECT_EQ(a.predictions.size(), 30u);
}

TEST(Trainer, LearnsFromTheSameBatchesWithOneThread) {
  const TrainerRan one = run_whole(1), two = run_whole(2);
  ASSERT_EQ(one.losses.size(), two.losses.size());
  for (std::size_t i = 0; i < one.losses.size(); ++i) EXPECT_NEAR(one.losses[i], two.losses[i], 1e-4) << i;
}

class Interrupted : public testing::TestWithParam<int> {};

void expect_resumed_equal(int stop_at, std::initializer_list<const char*> settings) {
  const TrainerRan whole = run_whole(2, settings);
  const TemporaryFolder folder;
  TrainerRecorder first(stop_at);
  {
    Trainer trainer(small_job(folder.path() / "run", settings), {&first});
    EXPECT_EQ(trainer.run(&first.stop), End::Reason::interrupted);
  }
  TrainerRecorder second;
  Job job = small_job(folder.path() / "run", settings);
  job.resume = true;
  Trainer trainer(std::move(job), {&second});
  EXPECT_EQ(trainer.run(), End::Reason::finished);
  std::vector<double> losses = first.losses;
  losses.insert(losses.end(), second.losses.begin(), second.losses.end());
  EXPECT_EQ(losses, whole.losses);
  EXPECT_EQ(weights_of(trainer), whole.weights);
  EXPECT_EQ(second.epochs.back().train_loss, [&] {
    double sum = 0;
    for (std::size_t i = 10; i < 15; ++i) sum += whole.losses[i] * 4;
    return sum / 20;
  }());
  EXPECT_EQ(second.predictions, whole.predictions);
}

TEST_P(Interrupted, ResumedEqualsNeverStopped) { expect_resumed_equal(GetParam(), {}); }
TEST_P(Interrupted, ResumedEqualsNeverStoppedWithVariedSamples) { expect_resumed_equal(GetParam(), varied); }

// In mid-epoch, after the last step of an epoch (before its evaluation), and early.
INSTANTIATE_TEST_SUITE_P(At, Interrupted, testing::Values(1, 5, 7, 10));

TEST(Trainer, EvaluatesEverySampleOnceAlsoInAShortLastBatch) {
  const TemporaryFolder folder;
  TrainerRecorder recorder;
  Trainer trainer(small_job(folder.path() / "run", {"data.batch=4", "train.epochs=1"}), {&recorder});
  trainer.run();
  const Evaluated& e = trainer.last_evaluation();
  ASSERT_EQ(e.predictions.size(), 30u);
  double mae = 0, mse = 0;
  for (std::size_t i = 0; i < 30; ++i) {
    const double error = double{e.predictions[i]} - double{e.targets[i]};
    mae += std::abs(error) / 30;
    mse += error * error / 30;
  }
  EXPECT_NEAR(e.results.at("mae"), mae, 1e-9);
  EXPECT_NEAR(e.results.at("loss"), mse, 1e-6);
  EXPECT_TRUE(e.results.contains("r2.b"));
}

TEST(Trainer, AMetricThatDoesNotFitIsRefusedBeforeTraining) {
  const TemporaryFolder folder;
  EXPECT_THROW(Trainer(small_job(folder.path() / "run", {"train.metrics=[\"accuracy\"]"}), {}), UsageError);
}

TEST(Trainer, RefusesARunFolderInUse) {
  const TemporaryFolder folder;
  Trainer(small_job(folder.path() / "run", {"train.epochs=1"}), {}).run();
  Trainer again(small_job(folder.path() / "run", {"train.epochs=1"}), {});
  EXPECT_THROW(again.run(), Error);
  Job job = small_job(folder.path() / "run", {"train.epochs=1"});
  job.overwrite = true;
  EXPECT_EQ(Trainer(std::move(job), {}).run(), End::Reason::finished);
}

TEST(Trainer, ChecksDataAgainstTheNetworkBeforeAnythingIsWritten) {
  const TemporaryFolder folder;
  for (const char* wrong :
       {"data.train=noise(shape=[6, 6, 3], targets=3, count=8)", "data.test=noise(shape=[6, 6, 2], targets=2, count=8)",
        "data.train=noise(shape=[6, 6, 2], targets=3, count=3)"}) {
    EXPECT_THROW(Trainer(small_job(folder.path() / "run", {wrong}), {}), Error) << wrong;
  }
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "run"));
}

TEST(Trainer, StopsWhenTheLossIsNoNumber) {
  const TemporaryFolder folder;
  Trainer trainer(small_job(folder.path() / "run", {"optimizer=sgd(lr=1e30)"}), {});
  EXPECT_THROW(trainer.run(), Error);
}

TEST(Trainer, RefusesAFolderThatCannotBeMade) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "file") << "x";
  Trainer trainer(small_job(folder.path() / "file" / "run"), {});
  EXPECT_THROW(trainer.run(), Error);
}

}  // namespace
}  // namespace isobar::train
