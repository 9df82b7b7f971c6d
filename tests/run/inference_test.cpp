#include "isobar/run/inference.hpp"

#include <fstream>

#include <gtest/gtest.h>

#include "isobar/comm/local_comm.hpp"

#include "tests/expect_error.hpp"
#include "tests/train/recorder.hpp"

namespace isobar::run {
namespace {

using namespace isobar::tests;
using namespace isobar::train;  // for its small runs

Trained read_small_run(const std::filesystem::path& what, comm::Comm& comm) {
  Trained found = read_run(what, comm);
  found.model = small_model(found.recipe);
  return found;
}

// The network's predictions for the test set, in order; `samples` gets the numbers of the samples.
struct Applied {
  std::vector<std::int64_t> samples;
  std::vector<float> predictions, targets;
  std::map<std::string, double> results;
};

Applied apply(const std::filesystem::path& run, int ranks, const InferenceOptions& given = {}) {
  Applied applied;
  comm::run_ranks(ranks, [&](comm::Comm& comm) {
    omp_set_num_threads(1);
    InferenceOptions options = given;
    Inference predicting(read_small_run(run, comm), options, comm);
    predicting.predict(
        [&](const PredictedRows& rows) {
          EXPECT_EQ(comm.rank(), 0);
          applied.samples.insert(applied.samples.end(), rows.samples.begin(), rows.samples.end());
          applied.predictions.insert(applied.predictions.end(), rows.predictions.begin(), rows.predictions.end());
          applied.targets.insert(applied.targets.end(), rows.targets.begin(), rows.targets.end());
        },
        nullptr);
    if (!predicting.target_shape()) return;
    options.evaluates = true;
    Inference evaluating(read_small_run(run, comm), options, comm);
    const Evaluated evaluated = evaluating.evaluate(nullptr);
    if (comm.rank() == 0) applied.results = evaluated.results;
  });
  return applied;
}

TEST(Inference, GivesTheBitsOfTheRunsLastEvaluation) {
  for (const int ranks : {1, 2}) {
    const TemporaryFolder folder;
    const Ran ran = run_on(ranks, folder.path() / "run",
                           {"data.transforms=[\"subtract_mean\", \"scale(by=0.5)\"]", "model=dense_net(norm=true)"});
    const Applied applied = apply(folder.path() / "run", ranks);
    EXPECT_EQ(applied.predictions, ran.predictions);
    EXPECT_EQ(applied.targets, ran.targets);
    EXPECT_EQ(applied.results, ran.last.test);
    EXPECT_FALSE(applied.results.empty());
  }
}

TEST(Inference, IsTheSameOnAnyNumberOfRanksAndInAnyBatch) {
  const TemporaryFolder folder;
  const Ran ran = run_on(1, folder.path() / "run", {});
  for (const int ranks : {1, 2, 3}) {
    for (const std::int64_t rows : {1, 3, 16}) {
      InferenceOptions options;
      options.rows = rows;
      const Applied applied = apply(folder.path() / "run", ranks, options);
      ASSERT_EQ(applied.predictions.size(), ran.predictions.size());
      for (std::size_t i = 0; i < ran.predictions.size(); ++i)
        EXPECT_NEAR(applied.predictions[i], ran.predictions[i], 1e-6f);
      for (std::size_t i = 0; i < applied.samples.size(); ++i)
        EXPECT_EQ(applied.samples[i], static_cast<std::int64_t>(i));
      for (const auto& [name, value] : ran.last.test) EXPECT_NEAR(applied.results.at(name), value, 1e-6) << name;
    }
  }
}

// On one rank to the bit; on others the sums of loss and metrics have another order.
TEST(Inference, AveragesTheNetworksOfARunWhoseRanksStayApart) {
  const TemporaryFolder folder;
  for (const char* const loss : {"loss=mse", "loss=sigmoid_cross_entropy"}) {
    const std::filesystem::path run = folder.path() / loss;
    const Ran ran = run_on(3, run, {"parallel.strategy=ensemble", "data.batch=6", "train.metrics=[\"mae\"]", loss});
    for (const int ranks : {1, 2, 3}) {
      const Applied applied = apply(run, ranks);
      EXPECT_EQ(applied.predictions, ran.predictions) << ranks << " ranks";
      EXPECT_EQ(applied.targets, ran.targets);
      ASSERT_FALSE(applied.results.empty());
      if (ranks == 1) {
        EXPECT_EQ(applied.results, ran.last.test);
      }
      for (const auto& [name, value] : ran.last.test) EXPECT_NEAR(applied.results.at(name), value, 1e-6) << name;
    }
    comm::run_ranks(1,
                    [&](comm::Comm& comm) { EXPECT_EQ(Inference(read_small_run(run, comm), {}, comm).networks(), 3); });
  }
}

TEST(Inference, SomeOfTheSamplesAndOtherMetrics) {
  const TemporaryFolder folder;
  const Ran ran = run_on(1, folder.path() / "run", {});
  InferenceOptions options;
  options.first = 3, options.last = 7;
  options.metrics = std::vector<std::string>{"r2"};
  const Applied applied = apply(folder.path() / "run", 1, options);
  ASSERT_EQ(applied.predictions.size(), 12u);
  for (std::size_t i = 0; i < 12; ++i) EXPECT_NEAR(applied.predictions[i], ran.predictions[9 + i], 1e-6f);
  EXPECT_TRUE(applied.results.contains("r2.a"));
  EXPECT_FALSE(applied.results.contains("mae"));
}

// Samples that have only x.
class Unlabelled final : public datasets::Dataset {
 public:
  std::int64_t size() const override { return whole_->size(); }
  std::vector<datasets::Field> fields() const override { return {whole_->fields()[0]}; }
  void read(std::int64_t index, std::span<const std::span<float>> out) const override {
    std::vector<float> y(3);
    const std::vector<std::span<float>> both{out[0], y};
    whole_->read(index, both);
  }

 private:
  std::unique_ptr<datasets::Dataset> whole_ =
      datasets::make_dataset("noise(shape=[6, 6, 2], targets=3, count=10, seed=2)");
};

TEST(Inference, NeedsNoTargetsToPredict) {
  const TemporaryFolder folder;
  const Ran ran = run_on(1, folder.path() / "run", {"data.transforms=[\"subtract_mean\", \"scale(by=3, field=y)\"]"});
  InferenceOptions options;
  options.data = std::make_shared<Unlabelled>();
  options.data_name = "unlabelled";
  for (const int ranks : {1, 2}) {
    const Applied applied = apply(folder.path() / "run", ranks, options);
    ASSERT_EQ(applied.predictions.size(), ran.predictions.size());
    for (std::size_t i = 0; i < ran.predictions.size(); ++i)
      EXPECT_NEAR(applied.predictions[i], ran.predictions[i], 1e-6f);
    EXPECT_TRUE(applied.targets.empty());
  }
  options.evaluates = true;
  EXPECT_TRUE(contains(error_of([&] {
                         const auto alone = comm::alone();
                         Inference(read_small_run(folder.path() / "run", *alone), options, *alone);
                       }),
                       "needs the field 'y'"));
}

TEST(Inference, AStoppedRunIsAppliedFromItsLastCheckpoint) {
  const TemporaryFolder folder;
  Recorder recorder(7);
  {
    Trainer trainer(small_job(folder.path() / "run"), {&recorder});
    EXPECT_EQ(trainer.run(&recorder.stop), End::Reason::interrupted);
  }
  const auto alone = comm::alone();
  InferenceOptions options;
  options.evaluates = true;
  for (const auto& what : {folder.path() / "run", newest_in(folder.path() / "run")}) {
    Inference inference(read_small_run(what, *alone), options, *alone);
    EXPECT_EQ(inference.trained().position.step, 7);
    EXPECT_EQ(inference.trained().standing(),
              "checkpoint after step 7, within epoch 2 of 3: the run was stopped or is still running");
    EXPECT_GT(inference.evaluate(nullptr).results.at("loss"), 0);
  }
}

TEST(Inference, TellsWhatIsMissing) {
  const TemporaryFolder folder;
  const auto alone = comm::alone();
  const auto problem = [&](const std::filesystem::path& what, const InferenceOptions& options = {}) {
    return error_of([&] { Inference(read_small_run(what, *alone), options, *alone); });
  };
  EXPECT_TRUE(contains(problem(folder.path()), "contains no run"));
  std::ofstream(folder / "recipe.toml") << "model = 'dense_net'\n";
  EXPECT_TRUE(contains(problem(folder.path()), "no checkpoint yet"));
  run_on(1, folder.path() / "run", {});
  InferenceOptions other;
  other.data = datasets::make_dataset("noise(shape=[6, 5, 2], targets=3, count=4)");
  other.data_name = "other";
  EXPECT_TRUE(contains(problem(folder.path() / "run", other), "field 'x' of a sample is 6x5x2"));
  InferenceOptions metric;
  metric.evaluates = true;
  metric.metrics = std::vector<std::string>{"acuracy"};
  EXPECT_TRUE(contains(problem(folder.path() / "run", metric), "accuracy"));
  InferenceOptions beyond;
  beyond.first = 4, beyond.last = 11;
  EXPECT_TRUE(contains(problem(folder.path() / "run", beyond), "0:10"));
  run_on(1, folder.path() / "learned", {"data.transforms=[\"subtract_mean\"]"});
  std::filesystem::remove(folder.path() / "learned" / "learned.h5");
  EXPECT_TRUE(contains(problem(folder.path() / "learned"), "learned.h5"));
}

TEST(Inference, StopsWhenAnyRankIsTold) {
  const TemporaryFolder folder;
  run_on(1, folder.path() / "run", {});
  std::atomic<bool> stop = true;
  comm::run_ranks(2, [&](comm::Comm& comm) {
    Inference inference(read_small_run(folder.path() / "run", comm), {}, comm);
    EXPECT_FALSE(inference.predict([](const PredictedRows&) { FAIL(); }, comm.rank() == 1 ? &stop : nullptr));
  });
}

TEST(Trained, TheLossTellsWhatPredictionsMean) {
  using writing::Meaning;
  const Shape scores{4, 4, 3}, classes{4, 4}, numbers{4, 4, 3};
  EXPECT_EQ(meaning_of("softmax_cross_entropy", scores, nullptr), Meaning::classes);
  EXPECT_EQ(meaning_of("sigmoid_cross_entropy", scores, nullptr), Meaning::labels);
  EXPECT_EQ(meaning_of("mse", scores, &classes), Meaning::numbers);
  EXPECT_EQ(meaning_of({}, scores, &classes), Meaning::classes);
  EXPECT_EQ(meaning_of({}, scores, &numbers), Meaning::numbers);
  EXPECT_EQ(meaning_of({}, scores, nullptr), Meaning::numbers);
}

}  // namespace
}  // namespace isobar::run
