// Runs with a validation set: what is kept apart is not trained on, and every choice is made there.
#include "isobar/train/validation.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>

#include <gtest/gtest.h>

#include "isobar/hdf5/hdf5_file.hpp"

#include "tests/expect_error.hpp"
#include "tests/train/recorder.hpp"

namespace isobar::train {
namespace {

namespace fs = std::filesystem;
using tests::error_of;
using Settings = std::vector<std::string>;

// Of 22 samples the share 0.28 is these 6 (tests/datasets/sample_subset_test.cpp).
constexpr const char* share = "data.validation=\"share(of=0.28)\"";
const std::vector<int> kept_apart{0, 6, 10, 15, 16, 18};

// Files of one sample each: all of them, and the same in two folders, for validation and the rest.
struct SplitFiles {
  SplitFiles() {
    const auto noise = datasets::make_dataset("noise(shape=[6, 6, 2], targets=3, count=22, seed=4)");
    std::vector<float> x(72), y(3);
    const std::span<float> fields[] = {x, y};
    for (int i = 0; i < 22; ++i) {
      noise->read(i, fields);
      const bool apart = std::ranges::find(kept_apart, i) != kept_apart.end();
      for (const char* part : {"all", apart ? "apart" : "rest"}) {
        fs::create_directories(root.path() / part);
        hdf5::Hdf5File out = hdf5::Hdf5File::create(root.path() / part / fmt::format("s{:02}.h5", i));
        out.write<float>("x", Shape{6, 6, 2}, x);
        out.write<float>("y", Shape{3}, y);
        out.commit();
      }
    }
  }

  Job job(const std::string& run, const std::string& train, const Settings& settings, bool resume = false) const {
    Spec recipe = parse_recipe(small_recipe, "test");
    apply_setting(recipe, fmt::format("data.train=\"hdf5(path='{}')\"", (root.path() / train).string()));
    apply_setting(recipe, fmt::format("data.test=\"hdf5(path='{}')\"", (root.path() / "apart").string()));
    apply_setting(recipe, fmt::format("folder=\"{}\"", (root.path() / run).string()));
    for (const std::string& setting : settings) apply_setting(recipe, setting);
    Job made = read_small_job(recipe);
    made.resume = resume;
    return made;
  }
  std::string own_set() const {
    return fmt::format("data.validation=\"hdf5(path='{}')\"", (root.path() / "apart").string());
  }

  TemporaryFolder root;
};

Ran run_split(const SplitFiles& files, const std::string& run, const std::string& train, const Settings& settings,
              int ranks = 1) {
  Recorder recorder;
  return run_on(
      ranks, [&](int) { return files.job(run, train, settings); }, recorder);
}

void expect_same_run(const Ran& a, const Ran& b) {
  EXPECT_EQ(a.losses, b.losses);
  EXPECT_EQ(a.weights, b.weights);
  ASSERT_EQ(a.epochs.size(), b.epochs.size());
  for (std::size_t e = 0; e < a.epochs.size(); ++e) {
    EXPECT_EQ(a.epochs[e].validation, b.epochs[e].validation);
    EXPECT_EQ(a.epochs[e].test, b.epochs[e].test);
  }
}

// With a transform that learns and others that draw: neither sees what is kept apart.
TEST(ValidationShare, TrainsLikeARunThatOnlyHasTheOtherSamples) {
  const SplitFiles files;
  const Settings varied{"data.transforms=[\"subtract_mean\", \"mirror\", \"crop(size=[6, 6])\"]"};
  Settings by_share = varied, by_set = varied;
  by_share.push_back(share);
  by_set.push_back(files.own_set());
  const Ran shared = run_split(files, "share", "all", by_share), own = run_split(files, "own", "rest", by_set);
  EXPECT_EQ(shared.losses.size(), 12u);  // 3 epochs of 16 samples in batches of 4
  ASSERT_EQ(shared.epochs.size(), 3u);
  for (const EpochDone& epoch : shared.epochs) EXPECT_TRUE(epoch.validation.contains("mae"));
  expect_same_run(shared, own);
}

TEST(ValidationShare, IsTheSameOnAnyNumberOfRanks) {
  const SplitFiles files;
  const Settings settings{share, "train.deterministic=true", "train.micro_batches=4", "strategy=sync"};
  const Ran one = run_split(files, "1", "all", settings);
  for (const int ranks : {2, 4}) {
    const Ran many = run_split(files, std::to_string(ranks), "all", settings, ranks);
    EXPECT_EQ(many.losses, one.losses);
    EXPECT_EQ(many.weights[0], one.weights[0]);
    ASSERT_EQ(many.epochs.size(), 3u);
    for (std::size_t e = 0; e < 3; ++e) EXPECT_EQ(many.epochs[e].validation, one.epochs[e].validation);
  }
}

TEST(ValidationShare, CanBeStaged) {
  const SplitFiles files;
  const Ran plain = run_split(files, "plain", "all", {share});
  const std::string to = (files.root.path() / "node").string();
  for (const int ranks : {1, 2})
    for (const std::string& staging : {fmt::format("files(to='{}')", to), std::string("store")}) {
      const std::string run = fmt::format("{}-{}", ranks, staging.substr(0, 5));
      const Ran staged =
          run_split(files, run, "all", {share, fmt::format("data.staging=\"{}\"", staging), "strategy=sync"}, ranks);
      ASSERT_EQ(staged.losses.size(), plain.losses.size());
      for (std::size_t i = 0; i < plain.losses.size(); ++i)
        EXPECT_NEAR(staged.losses[i], plain.losses[i], 2e-5) << staging;
      for (const auto& [name, value] : plain.epochs.back().validation)
        EXPECT_NEAR(staged.epochs.back().validation.at(name), value, 2e-5) << staging;
    }
  for (const std::string& scheme : {std::string("shard"), std::string("quota, quota=3")}) {
    const std::string staging = fmt::format("data.staging=\"files(to='{}', scheme={})\"", to, scheme);
    const auto train = [&, s = Settings{share, staging}] { run_split(files, "refused " + scheme, "all", s); };
    EXPECT_HAS(error_of(train), "data.validation");
  }
  // A validation set of its own needs no share of what other ranks hold.
  const std::string quota = fmt::format("data.staging=\"files(to='{}', scheme=quota, quota=9)\"", to);
  const Ran own = run_split(files, "own", "rest", {files.own_set(), quota});
  EXPECT_EQ(own.losses.size(), 6u);
  EXPECT_EQ(own.epochs.size(), 3u);
  EXPECT_TRUE(own.epochs[0].validation.contains("loss"));
}

TEST(ValidationShare, IsANumberOrASpec) {
  const TemporaryFolder folder;
  const Job number = small_job(folder.path(), {"data.validation=0.25"});
  EXPECT_EQ(number.validation.source->size(), 6);  // 5.5, rounded
  EXPECT_EQ(number.train_data->size(), 16);
  EXPECT_NE(number.recipe.str().find("share(of=0.25, seed=1)"), std::string::npos) << number.recipe.str();
  // The resolved recipe makes the same job.
  EXPECT_EQ(read_small_job(number.recipe).validation.share->chosen, number.validation.share->chosen);
  EXPECT_NE(small_job(folder.path(), {"data.validation=\"share(of=0.25, seed=2)\""}).validation.share->chosen,
            number.validation.share->chosen);
  // Another seed of the run trains on the same samples.
  EXPECT_EQ(small_job(folder.path(), {"data.validation=0.25", "seed=9"}).validation.share->chosen,
            number.validation.share->chosen);
  const auto refused = [&](const char* setting) { return error_of([&] { small_job(folder.path(), {setting}); }); };
  EXPECT_HAS(refused("data.validation=1.5"), "below 1");
  EXPECT_HAS(refused("data.validation=\"share(of=0.1, sed=3)\""), "did you mean 'seed'");
  EXPECT_HAS(refused("data.validation=\"shar(of=0.1)\""), "shar");
  EXPECT_HAS(refused("train.test_every=2"), "data.validation");
  EXPECT_HAS(refused("report.target=\"validation.mae<=0.1\""), "data.validation");
  EXPECT_HAS(refused("checkpoint.best=\"validation.mae\""), "data.validation");
  EXPECT_HAS(refused("checkpoint.best=\"test.mae\""), "write 'mae'");
}

TEST(Validation, TheTestSetIsOnlyReportedThen) {
  const TemporaryFolder folder;
  const Ran at_end = run_on(1, folder.path() / "a", {share, "train.epochs=4"});
  ASSERT_EQ(at_end.epochs.size(), 4u);
  for (const EpochDone& epoch : at_end.epochs) {
    EXPECT_FALSE(epoch.validation.empty());
    EXPECT_EQ(epoch.test.empty(), epoch.epoch < 4);
  }
  EXPECT_EQ(at_end.last.test, at_end.epochs.back().test);
  const Ran often =
      run_on(1, folder.path() / "b", {share, "train.epochs=4", "train.test_every=2", "train.evaluate_every=3"});
  ASSERT_EQ(often.epochs.size(), 4u);
  for (const EpochDone& epoch : often.epochs) {
    EXPECT_EQ(epoch.validation.empty(), epoch.epoch < 3);
    EXPECT_EQ(epoch.test.empty(), epoch.epoch % 2 == 1);
  }
  EXPECT_EQ(often.weights, at_end.weights);  // evaluating changes nothing
}

// Without a test set there is something to judge by, too.
TEST(Validation, NeedsNoTestSet) {
  const TemporaryFolder folder;
  Spec recipe = parse_recipe(R"toml(
model = "dense_net"
[data]
train = "noise(shape=[6, 6, 2], targets=3, count=22, seed=1)"
validation = 0.25
[train]
epochs = 2
[checkpoint]
best = "validation.mae"
)toml",
                             "test");
  apply_setting(recipe, fmt::format("folder=\"{}\"", (folder.path() / "run").string()));
  Recorder recorder;
  Trainer(read_small_job(recipe), {&recorder}).run();
  ASSERT_EQ(recorder.epochs.size(), 2u);
  EXPECT_TRUE(recorder.epochs[0].validation.contains("mae"));
  EXPECT_TRUE(recorder.epochs[0].test.empty());
  EXPECT_TRUE(fs::exists(folder.path() / "run" / "checkpoints" / "best.h5"));
}

// Validation samples whose targets the run moves away from: its first evaluation stays the best, whatever the test set
// says, which is like the training set.
const std::vector<const char*> away{"optimizer=\"sgd(lr=0.05)\"",
                                    "train.epochs=12",
                                    "data.train=\"noise(shape=[6, 6, 2], targets=3, count=22, seed=1)\"",
                                    "data.test=\"noise(shape=[6, 6, 2], targets=3, count=22, seed=1)\"",
                                    "data.validation=\"noise(shape=[6, 6, 2], targets=3, count=10, seed=3)\"",
                                    "train.test_every=1",
                                    "checkpoint.background=false"};

std::vector<const char*> away_with(std::initializer_list<const char*> more) {
  std::vector<const char*> settings = away;
  settings.insert(settings.end(), more);
  return settings;
}

// Where the best of the losses is, and where an early end with this patience would be.
std::size_t best_of(const std::vector<double>& losses) {
  return static_cast<std::size_t>(std::ranges::min_element(losses) - losses.begin());
}
std::size_t end_with_patience(const std::vector<double>& losses, std::size_t patience) {
  for (std::size_t n = 1; n <= losses.size(); ++n)
    if (n - 1 - best_of({losses.begin(), losses.begin() + static_cast<std::ptrdiff_t>(n)}) >= patience) return n;
  return losses.size();
}

std::vector<double> losses_of(const std::vector<EpochDone>& epochs, bool validation) {
  std::vector<double> losses;
  for (const EpochDone& epoch : epochs) losses.push_back((validation ? epoch.validation : epoch.test).at("loss"));
  return losses;
}

TEST(Validation, DecidesWhatIsBestAndWhenToEnd) {
  const TemporaryFolder folder;
  const Ran whole = run_on(1, folder.path() / "whole", away_with({"checkpoint.best=loss"}));
  const std::vector<double> judged = losses_of(whole.epochs, true), tested = losses_of(whole.epochs, false);
  ASSERT_EQ(judged.size(), 12u);
  ASSERT_NE(best_of(judged), best_of(tested)) << "a test that cannot tell the two sets apart";
  const checkpoint::CheckpointFile best(checkpoint::CheckpointShelf(folder.path() / "whole").best_file());
  EXPECT_EQ(best.index().best, judged[best_of(judged)]);

  const std::size_t end = end_with_patience(judged, 3);
  ASSERT_LT(end, judged.size());
  ASSERT_NE(end, end_with_patience(tested, 3));
  for (const int ranks : {1, 2}) {
    Recorder recorder;
    const Ran ended = run_on(
        ranks,
        [&](int) { return small_job(folder.path() / fmt::format("early{}", ranks), away_with({"train.patience=3"})); },
        recorder);
    EXPECT_EQ(ended.epochs.size(), end);
    EXPECT_EQ(ended.last.reason, End::Reason::finished);
    EXPECT_FALSE(ended.last.test.empty());
  }
}

// The rates of every epoch by the definition of the schedule, from the losses of the run itself.
TEST(Validation, DropsTheRateOnPlateaus) {
  const TemporaryFolder folder;
  const Ran ran = run_on(1, folder.path() / "one", away_with({"rate=\"plateau(factor=0.5, patience=1)\""}));
  const std::vector<double> judged = losses_of(ran.epochs, true);
  Recorder recorder;
  const auto job = [&](int) {
    return small_job(folder.path() / "two", away_with({"rate=\"plateau(factor=0.5, patience=1)\"", "strategy=sync"}));
  };
  const Ran two = run_on(2, job, recorder);
  EXPECT_EQ(two.weights[0], two.weights[1]);
  const std::vector<double> of_two = losses_of(two.epochs, true);
  double rate = 0.05, best = INFINITY;
  int waited = 0, drops = 0;
  for (std::size_t epoch = 0; epoch < of_two.size(); ++epoch) {
    for (const StepDone& step : recorder.steps)
      if (step.epoch == static_cast<std::int64_t>(epoch) + 1) {
        EXPECT_EQ(step.learning_rate, rate) << "epoch " << step.epoch;
      }
    const bool better = of_two[epoch] < best * (1 - 1e-4);
    waited = better ? 0 : waited + 1;
    if (better) best = of_two[epoch];
    if (waited > 1) rate *= 0.5, waited = 0, ++drops;
  }
  EXPECT_GT(drops, 1);
  EXPECT_EQ(judged.size(), of_two.size());
}

TEST(Validation, ResumedRunsDecideAsIfTheyHadNeverStopped) {
  const TemporaryFolder folder;
  for (const int ranks : {1, 2}) {
    const std::vector<const char*> settings =
        away_with({"rate=\"warmup(epochs=1, then=plateau(factor=0.5, patience=0))\"", "train.patience=4",
                   "checkpoint.best=loss", "data.validation=0.25"});
    const Ran whole = run_on(ranks, folder.path() / fmt::format("whole{}", ranks), settings);
    const auto steps = std::ssize(whole.losses);
    for (std::int64_t at = 2; at < steps; at += 5) {
      const fs::path run = folder.path() / fmt::format("parts{}-{}", ranks, at);
      Recorder first(at), second;
      const auto job = [&](bool resume) {
        return [&, resume](int) {
          Job made = small_job(run, settings);
          made.resume = resume;
          return made;
        };
      };
      run_on(ranks, job(false), first, [&](int) { return &first.stop; });
      const Ran rest = run_on(ranks, job(true), second);
      std::vector<double> losses = first.losses;
      losses.insert(losses.end(), rest.losses.begin(), rest.losses.end());
      EXPECT_EQ(losses, whole.losses) << "stopped after step " << at;
      EXPECT_EQ(rest.weights, whole.weights) << "stopped after step " << at;
      EXPECT_EQ(rest.last.test, whole.last.test);
    }
  }
}

TEST(Validation, WhatFollowsLossesNeedsEvaluationsAndRanksInStep) {
  const TemporaryFolder folder;
  const auto refused = [&](std::vector<const char*> settings) {
    return error_of([&] { small_job(folder.path() / "run", settings); });
  };
  EXPECT_HAS(refused({"rate=plateau", "train.evaluate_every=0"}), "data.validation");
  EXPECT_HAS(refused({"rate=\"warmup(then=plateau)\"", "train.evaluate_every=0"}), "data.validation");
  EXPECT_HAS(refused({"train.patience=2", "train.evaluate_every=0"}), "data.validation");
  EXPECT_HAS(refused({"train.patience=-1"}), "patience must be");
  for (const char* setting : {"rate=plateau", "train.patience=2"}) {
    const auto train = [&] { run_on(3, folder.path() / "apart", {setting, "strategy=async"}); };
    EXPECT_HAS(error_of(train), "at its own pace");
  }
}

}  // namespace
}  // namespace isobar::train
