// Training a model that is cut over several ranks: the same as the whole model on as many ranks as there are replicas.
#include <gtest/gtest.h>

#include "tests/expect_error.hpp"
#include "tests/train/cut_job.hpp"
#include "tests/train/spoilt_dataset.hpp"

namespace isobar::train {
namespace {

using tests::error_of;

struct Cut {
  std::string name;
  SplitMaker split;
  int ways;
};
void PrintTo(const Cut& cut, std::ostream* out) { *out << cut.name; }

class CutModels : public testing::TestWithParam<Cut> {
 protected:
  // Whole models on one rank and on two, and the same replicas cut.
  void expect_as_whole(const MapsSetting& setting) {
    for (const int replicas : {1, 2}) {
      MapsSetting cut = setting;
      cut.split = GetParam().split;
      const Ran whole = train_maps(replicas, folder_.path() / fmt::format("whole{}", replicas), setting);
      const Ran parts = train_maps(replicas * GetParam().ways, folder_.path() / fmt::format("cut{}", replicas), cut);
      EXPECT_FALSE(whole.losses.empty());
      expect_alike(whole, parts);
    }
  }
  const TemporaryFolder folder_;
};

TEST_P(CutModels, TrainAndAreJudgedLikeWholeOnes) { expect_as_whole({}); }

TEST_P(CutModels, InMicroBatchesAndUnevenBatches) {
  expect_as_whole({.settings = {"data.batch=8", "train.micro_batches=4", "train.clip_norm=0.05"}});
}

TEST_P(CutModels, WithOneSampleFewerThanReplicas) { expect_as_whole({.settings = {"data.batch=1"}}); }

TEST_P(CutModels, WithTransforms) { expect_as_whole({.settings = {"data.transforms=[\"mirror(axes=[0])\"]"}}); }

TEST_P(CutModels, LaggedAndWithoutShuffling) {
  expect_as_whole({.settings = {"parallel.strategy=lagged(k=1)", "data.shuffle=false"}});
}

TEST_P(CutModels, FromAStoreInMemory) { expect_as_whole({.settings = {"data.staging=store"}}); }

TEST_P(CutModels, WithAShareKeptApartForValidation) {
  const MapsSetting setting{.settings = {"data.validation=0.3", "data.staging=store", "train.test_every=1"}};
  expect_as_whole(setting);
  const Ran whole = train_maps(1, folder_.path() / "whole", setting);
  EXPECT_EQ(whole.losses.size(), 9u);  // 3 epochs of 15 samples in batches of 4
  for (const EpochDone& epoch : whole.epochs) EXPECT_TRUE(epoch.validation.contains("mae"));
}

// Each is seen by the ranks that read the bad row only.
TEST_P(CutModels, LeaveOutWhatAnyRankCannotRead) {
  MapsSetting bad{.settings = {"data.bad_samples=skip"},
                  .bad = {{3, 0}, {4, 5}, {5, 5}, {6, 2}, {17, 1}},
                  .bad_tests = {{0, 5}, {7, 0}}};
  expect_as_whole(bad);
  const Ran whole = train_maps(1, folder_.path() / "whole", bad);
  EXPECT_EQ(whole.last.skipped, 14) << "five in each of three epochs, but for one that is not drawn";
  EXPECT_EQ(whole.epochs[0].test_skipped, 2);
  bad.split = GetParam().split;
  const Ran cut = train_maps(GetParam().ways, folder_.path() / "cut", bad);
  EXPECT_EQ(cut.last.skipped, whole.last.skipped);
  EXPECT_EQ(cut.last.first_skipped, whole.last.first_skipped);
  bad.settings.push_back("data.staging=store");
  expect_alike(whole, train_maps(GetParam().ways, folder_.path() / "stored", bad));
}

// Batches of one sample, one of which is bad: a step without samples, on some replica or on all.
TEST_P(CutModels, AgreeOnStepsWithoutSamples) {
  expect_as_whole({.settings = {"data.bad_samples=skip", "data.batch=2"}, .bad = {{2, 5}, {3, 5}, {9, 0}}});
}

INSTANTIATE_TEST_SUITE_P(Splits, CutModels, testing::Values(Cut{"copies", copies(2), 2}, Cut{"slabs", slabs(2), 2}),
                         [](const auto& test) { return test.param.name; });

// Convolutions that look over the edge of a slab, normalised over the ranks of a replica, and a part that every rank
// computes.
Model near_and_far() {
  return {[](std::int64_t batch) {
            graph::Graph g;
            graph::ValueId h = g.input("x", {batch, 6, 6, 2});
            for (int i = 0; i < 3; ++i) {
              h = g.add("conv(filters=4, kernel=3, padding=same, bias=false)", h, fmt::format("conv{}", i));
              h = g.add("relu", g.add("batch_norm", h, fmt::format("norm{}", i)));
            }
            h = g.add("dropout(rate=0.2)", h, "drop");
            h = g.add("dense(units=3)", g.add("flatten", h), "fc");
            g.output("prediction", h);
            g.loss(g.add("mse", {h, g.input("y", {batch, 3})}, "loss"));
            return g;
          },
          {"a", "b", "c"},
          Spec("near_and_far"),
          Spec("mse")};
}

class SpatialTraining : public testing::Test {
 protected:
  Job job(const std::string& run, const std::vector<const char*>& settings) const {
    Spec recipe = parse_recipe(small_recipe, "test");
    apply_setting(recipe, "model=near_and_far");
    apply_setting(recipe, "optimizer=sgd(lr=0.02, momentum=0.9)");
    apply_setting(recipe, fmt::format("folder=\"{}\"", (folder_.path() / run).string()));
    for (const char* each : settings) apply_setting(recipe, each);
    datasets::Survey survey;
    return read_job(recipe, "test", near_and_far(), survey);
  }
  Ran train(int ranks, const std::string& run, const std::vector<const char*>& settings,
            Recorder&& recorder = Recorder()) {
    return run_on(
        ranks, [&](int) { return job(run, settings); }, recorder);
  }
  const TemporaryFolder folder_;
};

TEST_F(SpatialTraining, IsThatOfWholeModels) {
  expect_alike(train(1, "1", {}), train(2, "1x2", {"parallel.split=spatial(height=2)"}), 2e-5);
  expect_alike(train(2, "2", {}), train(4, "2x2", {"parallel.split=spatial(width=2)"}), 2e-5);
  expect_alike(train(1, "one", {"data.batch=8", "train.micro_batches=2"}),
               train(3, "1x3", {"data.batch=8", "train.micro_batches=2", "parallel.split=spatial(height=3)"}), 2e-5);
}

// The steps without samples send nothing; the others do not wait for them.
TEST_F(SpatialTraining, WithEmptyBatches) {
  expect_alike(train(2, "whole", {"data.batch=1"}),
               train(4, "cut", {"data.batch=1", "parallel.split=spatial(height=2)"}), 2e-5);
}

TEST_F(SpatialTraining, GoesBackFromBadNumbersOnAllRanksAlike) {
  const std::vector<const char*> skips{"train.bad_numbers=skip", "data.bad_samples=skip"};
  const auto spoilt = [&](const std::string& run, const std::vector<const char*>& settings) {
    Job made = job(run, settings);
    spoil_sample(made, 3);
    return made;
  };
  std::vector<const char*> cut = skips;
  cut.push_back("parallel.split=spatial(height=2)");
  Recorder whole, parts;
  const Ran a = run_on(
      1, [&](int) { return spoilt("whole", skips); }, whole);
  const Ran b = run_on(
      2, [&](int) { return spoilt("cut", cut); }, parts);
  ASSERT_GT(whole.bad.size(), 0u);
  ASSERT_EQ(parts.bad.size(), whole.bad.size());
  for (std::size_t i = 0; i < whole.bad.size(); ++i) EXPECT_EQ(parts.bad[i].step, whole.bad[i].step);
  expect_alike(a, b, 2e-5);
}

TEST_F(SpatialTraining, NamesTheLayerWhereBadNumbersCameFrom) {
  EXPECT_HAS(error_of([&] {
               Recorder recorder;
               run_on(
                   2,
                   [&](int) {
                     Job made = job("run", {"parallel.split=spatial(height=2)"});
                     spoil_sample(made, 3);
                     return made;
                   },
                   recorder);
             }),
             "sample 3 of the training set");
}

TEST_F(SpatialTraining, CountsItsMessages) {
  Recorder recorder;
  const Ran ran = train(2, "run", {"parallel.split=spatial(height=2)"}, std::move(recorder));
  ASSERT_GT(recorder.steps.size(), 1u);
  comm::ExchangeCosts sum;
  for (const StepDone& step : recorder.steps) {
    EXPECT_EQ(step.costs.messages.traffic.messages, recorder.steps[0].costs.messages.traffic.messages);
    EXPECT_EQ(step.bytes_sent, step.costs.gradients.traffic.bytes + step.costs.messages.traffic.bytes);
    EXPECT_LE(step.costs.messages.waited_seconds, step.exchange_seconds);
    sum = sum + step.costs;
  }
  EXPECT_GT(sum.messages.traffic.bytes, 0);
  EXPECT_EQ(ran.last.exchange.messages.traffic.bytes, sum.messages.traffic.bytes)
      << "those of evaluations do not count";
  EXPECT_EQ(train(2, "whole", {}).last.exchange.messages.sums, 0);
}

TEST_F(SpatialTraining, NormalisesOverAllReplicas) {
  expect_alike(train(2, "whole", {"train.sync_batch_norm=true"}),
               train(4, "cut", {"train.sync_batch_norm=true", "parallel.split=spatial(height=2)"}), 2e-5);
}

TEST_F(SpatialTraining, IsRefusedWithWhatNeedsWholeModels) {
  EXPECT_HAS(error_of([&] {
               job("a", {"train.deterministic=true", "parallel.split=spatial(height=2)"});
             }),
             "deterministic needs parallel.split = 'none'");
}

TEST(CutModel, OverThreeRanks) {
  const TemporaryFolder folder;
  expect_alike(train_maps(1, folder.path() / "whole", {}), train_maps(3, folder.path() / "cut", {.split = slabs(3)}));
}

// Stopped in the second epoch with one split, and resumed with another.
TEST(CutModel, ResumesFromSplitToWholeAndBack) {
  const TemporaryFolder folder;
  const Ran whole = train_maps(1, folder.path() / "undisturbed", {});
  struct Way {
    SplitMaker from, to;
    int ranks_before, ranks_after;
  };
  int number = 0;
  for (const Way& way : {Way{slabs(2), nullptr, 2, 1}, Way{nullptr, slabs(2), 1, 2}, Way{slabs(2), slabs(3), 4, 3}}) {
    const std::filesystem::path run = folder.path() / fmt::format("way{}", number++);
    train_maps(way.ranks_before, run, {.split = way.from}, Recorder(7));
    const Ran after = train_maps(way.ranks_after, run, {.split = way.to, .resume = true});
    EXPECT_EQ(after.last.steps, 15);
    ASSERT_EQ(after.weights[0].size(), whole.weights[0].size());
    for (std::size_t i = 0; i < whole.weights[0].size(); ++i)
      ASSERT_NEAR(after.weights[0][i], whole.weights[0][i], 1e-5) << i;
    EXPECT_NEAR(after.last.test.at("loss"), whole.last.test.at("loss"), 1e-5);
  }
}

// What it says of itself: all work of a sample, whoever does it.
TEST(CutModel, CountsTheWorkOfTheWhole) {
  const TemporaryFolder folder;
  Recorder alone, cut;
  run_on(
      1, [&](int) { return map_job(folder.path() / "1", {}); }, alone);
  run_on(
      2, [&](int) { return map_job(folder.path() / "2", {.split = slabs(2)}); }, cut);
  EXPECT_EQ(alone.started.parameters, cut.started.parameters);
  EXPECT_DOUBLE_EQ(alone.started.flops_per_sample, cut.started.flops_per_sample);
  EXPECT_EQ(alone.started.part, "");
  EXPECT_EQ(cut.started.part, "rows 0-3 of 6");
  EXPECT_EQ(cut.started.batching, "global batch 4: 1 replica of 2 ranks with 1 micro-batch of 4");
  EXPECT_EQ(cut.last.target_shape, Shape({6, 5, 3}));
}

// Views samples after every evaluation and at the end, as pictures do.
class Visitor final : public Sink {
 public:
  void epoch(const EpochDone& done) override { look(done.viewer); }
  void end(const End& end) override {
    look(end.viewer);
    const View view = end.viewer->look(3);
    for (std::size_t i = 0; i < view.prediction.numbers.size(); ++i)
      EXPECT_NEAR(view.prediction.numbers[i], end.predictions[3 * view.prediction.numbers.size() + i], 1e-6);
    EXPECT_NE(end.viewer->predict({}).numbers, view.prediction.numbers);
    EXPECT_HAS(error_of([&] {
                 end.viewer->predict({{"x", {Shape({6, 6}), std::vector<float>(36)}}});
               }),
               "input 'x' of a sample is 6x6, the network expects 6x5x2");
    EXPECT_EQ(end.viewer->predict({{"x", view.fields.at("x")}}).numbers, view.prediction.numbers);
  }
  std::vector<View> views;

 private:
  void look(Viewer* viewer) {
    ASSERT_NE(viewer, nullptr);
    for (const std::int64_t sample : {0, 9}) views.push_back(viewer->look(sample));
  }
};

TEST(CutModel, IsViewedByAllRanksOfTheFirstReplica) {
  const TemporaryFolder folder;
  const auto visited = [&](int ranks, const MapsSetting& setting) {
    Visitor visitor;
    comm::run_ranks(ranks, [&](comm::Comm& comm) {
      omp_set_num_threads(1);
      Trainer trainer(map_job(folder.path() / std::to_string(ranks), setting), comm, {&visitor});
      trainer.run();
    });
    return visitor.views;
  };
  const std::vector<View> whole = visited(1, {});
  ASSERT_EQ(whole.size(), 8u);
  for (const MapsSetting& setting :
       {MapsSetting{.split = slabs(2)}, MapsSetting{.split = slabs(2), .settings = {"data.staging=store"}}}) {
    const std::vector<View> cut = visited(4, setting);
    ASSERT_EQ(cut.size(), whole.size());
    for (std::size_t v = 0; v < whole.size(); ++v) {
      EXPECT_EQ(cut[v].fields.at("x").numbers, whole[v].fields.at("x").numbers);
      EXPECT_EQ(cut[v].fields.at("y").shape, Shape({6, 5, 3}));
      EXPECT_EQ(cut[v].prediction.shape, Shape({6, 5, 3}));
      EXPECT_NEAR(cut[v].loss, whole[v].loss, 1e-5);
      ASSERT_EQ(cut[v].prediction.numbers.size(), whole[v].prediction.numbers.size());
      for (std::size_t i = 0; i < whole[v].prediction.numbers.size(); ++i)
        ASSERT_NEAR(cut[v].prediction.numbers[i], whole[v].prediction.numbers[i], 1e-5);
    }
    std::filesystem::remove_all(folder.path() / "4");
  }
}

std::string error_on(int ranks, const std::filesystem::path& folder, const MapsSetting& setting) {
  return error_of([&] { train_maps(ranks, folder, setting); });
}

TEST(CutModel, RefusesWhatItCannotDo) {
  const TemporaryFolder folder;
  EXPECT_HAS(error_on(3, folder.path() / "a", {.split = slabs(2)}),
             "3 ranks cannot be divided into replicas of 2 ranks each; valid: 2, 4, 6");
  EXPECT_HAS(error_on(4, folder.path() / "b", {.split = slabs(2), .settings = {"train.micro_batches=3"}}),
             "train.micro_batches = 3 is not a multiple of 2 replicas");
}

// The data are checked as wholes: a part of larger samples would fit, too.
TEST(CutModel, RefusesSamplesOfAnotherSize) {
  const TemporaryFolder folder;
  const auto work = [&](comm::Comm& comm) {
    Job job = map_job(folder.path() / "run", {.split = slabs(2)});
    datasets::Survey survey;
    job.source = datasets::make_dataset("noise(shape=[8, 5, 2], targets=3, count=22, seed=1)", survey);
    job.train_data = job.source;
    Trainer(std::move(job), comm, {}).run();
  };
  EXPECT_HAS(error_of([&] { comm::run_ranks(2, work); }), "field 'x' of a sample is 8x5x2, the network expects 6x5x2");
}

TEST(CutModel, RanksAreUsedInWholeReplicas) {
  const Job job = map_job("runs/x", {.split = slabs(2), .settings = {"train.micro_batches=4"}});
  EXPECT_EQ(most_ranks(job, 9), 8);
  EXPECT_EQ(most_ranks(job, 7), 4) << "three replicas cannot share four micro-batches";
  EXPECT_EQ(most_ranks(job, 3), 2);
  EXPECT_EQ(most_ranks(job, 1), 1) << "placing them then says why it cannot be";
}

}  // namespace
}  // namespace isobar::train
