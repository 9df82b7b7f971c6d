// Training from staged data, and training with samples that cannot be read.
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "isobar/hdf5/hdf5_file.hpp"
#include "isobar/train/trainer.hpp"

#include "tests/expect_error.hpp"
#include "tests/train/recorder.hpp"

namespace isobar::train {
namespace {

namespace fs = std::filesystem;
using tests::error_of;

/// Files with one sample each, as the network of small_job() takes them; some are cut off.
struct Files {
  explicit Files(std::initializer_list<int> torn = {}) {
    const auto noise = datasets::make_dataset("noise(shape=[6, 6, 2], targets=3, count=32, seed=4)");
    std::vector<float> x(72), y(3);
    const std::span<float> fields[] = {x, y};
    for (int i = 0; i < 32; ++i) {
      noise->read(i, fields);
      const fs::path folder = root.path() / (i < 22 ? "train" : "test");
      fs::create_directories(folder);
      hdf5::Hdf5File out = hdf5::Hdf5File::create(folder / fmt::format("s{:02}.h5", i));
      out.write<float>("x", Shape{6, 6, 2}, x);
      out.write<float>("y", Shape{3}, y);
      out.commit();
      bytes += static_cast<std::int64_t>(fs::file_size(folder / fmt::format("s{:02}.h5", i))) * (i < 22);
    }
    for (const int i : torn)
      fs::resize_file(root.path() / (i < 22 ? "train" : "test") / fmt::format("s{:02}.h5", i), 700);
  }

  Job job(const std::string& run, std::initializer_list<const char*> settings = {}) const {
    Spec recipe = parse_recipe(small_recipe, "test");
    for (const char* part : {"train", "test"})
      apply_setting(recipe, fmt::format("data.{}=\"hdf5(path='{}')\"", part, (root.path() / part).string()));
    apply_setting(recipe, fmt::format("folder=\"{}\"", (root.path() / run).string()));
    for (const char* setting : settings) apply_setting(recipe, setting);
    return read_small_job(recipe);
  }

  TemporaryFolder root;
  std::int64_t bytes = 0;  // of the training set
};

std::int64_t counter(const End& end, const std::string& name) {
  for (const auto& [key, value] : end.staging)
    if (key == name) return value;
  ADD_FAILURE() << "no counter " << name;
  return -1;
}

TEST(StagedTraining, EveryStagingGivesTheSameBits) {
  const Files files;
  Recorder plain, copied, again, held;
  Trainer(files.job("a"), {&plain}).run();
  const std::string to = fmt::format("data.staging=\"files(to='{}')\"", (files.root / "node").string());
  Trainer(files.job("b", {to.c_str()}), {&copied}).run();
  Trainer(files.job("c", {to.c_str()}), {&again}).run();
  Trainer(files.job("d", {"data.staging=\"store\"", "data.readers=2"}), {&held}).run();
  EXPECT_EQ(plain.losses.size(), 15u);
  for (const Recorder* other : {&copied, &again, &held}) {
    EXPECT_EQ(other->losses, plain.losses);
    EXPECT_EQ(other->epochs.back().test, plain.epochs.back().test);
  }
  EXPECT_TRUE(plain.last.staging.empty());
  EXPECT_EQ(counter(copied.last, "train.bytes_read"), files.bytes);
  EXPECT_EQ(counter(copied.last, "train.set_bytes"), files.bytes);
  EXPECT_EQ(counter(again.last, "train.bytes_read"), 0);
  EXPECT_EQ(counter(again.last, "train.reused"), 1);
  EXPECT_EQ(counter(held.last, "train.samples_read"), 22);
  EXPECT_EQ(counter(held.last, "test.samples_read"), 10);
}

TEST(StagedTraining, AQuotaChangesTheLengthOfAnEpoch) {
  const Files files;
  Recorder recorder;
  const std::string staging =
      fmt::format("data.staging=\"files(to='{}', scheme=quota, quota=9)\"", (files.root / "node").string());
  Trainer(files.job("run", {staging.c_str()}), {&recorder}).run();
  EXPECT_EQ(recorder.losses.size(), 6u);  // 3 epochs of 9 samples in batches of 4
}

TEST(StagedTraining, WrongStagingIsAnError) {
  const Files files;
  EXPECT_HAS(error_of([&] { files.job("run", {"data.staging=\"fils(to=x)\""}); }), "did you mean 'files'");
  EXPECT_HAS(error_of([&] { files.job("run", {"data.staging=\"files(to=x, quota=3)\""}); }), "scheme=quota");
  EXPECT_HAS(error_of([&] { Trainer(files.job("run", {"data.staging=\"store(max_gigabytes=1e-6)\""}), {}).run(); }),
             "sample store");
  Job job = small_job(files.root / "other", {"data.staging=\"files(to=x)\""});
  Trainer trainer(std::move(job), {});
  EXPECT_HAS(error_of([&] { trainer.run(); }), "reads no files");
}

TEST(BadSamples, TheDefaultEndsTheRunAndNamesTheFile) {
  const Files files({7});
  Trainer trainer(files.job("run"), {});
  EXPECT_HAS(error_of([&] { trainer.run(); }), "s07.h5");
}

// The count belongs to the epoch, even if the run was interrupted in the middle of it.
TEST(BadSamples, SkippedOnesAreCountedPerEpochAndResumeIsExact) {
  const Files files({3, 7, 25});
  for (const char* staging : {"none", "store"}) {
    const std::string stage = fmt::format("data.staging=\"{}\"", staging);
    const std::initializer_list<const char*> skip = {"data.bad_samples=skip", stage.c_str()};
    Recorder whole, first(7), second;
    Trainer(files.job(fmt::format("{}-whole", staging), skip), {&whole}).run();
    ASSERT_EQ(whole.epochs.size(), 3u);
    std::int64_t sum = 0;
    for (const EpochDone& epoch : whole.epochs) {
      ASSERT_TRUE(epoch.skipped && epoch.test_skipped);
      EXPECT_LE(*epoch.skipped, 2);  // the last samples of an epoch's order are in no full batch
      EXPECT_EQ(*epoch.test_skipped, 1);
      sum += *epoch.skipped;
    }
    EXPECT_EQ(whole.last.skipped, sum);
    ASSERT_FALSE(whole.last.first_skipped.empty());
    EXPECT_HAS(whole.last.first_skipped[0], ".h5");
    EXPECT_EQ(whole.losses.size(), 15u);

    const std::string run = fmt::format("{}-parts", staging);
    Trainer(files.job(run, skip), {&first}).run(&first.stop);
    Job job = files.job(run, skip);
    job.resume = true;
    Trainer(std::move(job), {&second}).run();
    std::vector<double> losses = first.losses;
    losses.insert(losses.end(), second.losses.begin(), second.losses.end());
    EXPECT_EQ(losses, whole.losses);
    EXPECT_EQ(second.epochs[0].skipped, whole.epochs[1].skipped);
  }
}

TEST(BadSamples, AWholeBatchOfThemIsAStepWithoutAnUpdate) {
  const Files files({4, 5, 6, 7});
  Recorder recorder;
  Trainer(files.job("run", {"data.bad_samples=skip", "data.shuffle=false", "train.epochs=1"}), {&recorder}).run();
  EXPECT_EQ(recorder.losses.size(), 4u);  // of 5 steps
  EXPECT_EQ(recorder.last.steps, 5);
  EXPECT_EQ(recorder.epochs[0].skipped, 4);
}

TEST(StagedRanks, EveryStagingTrainsAsOneRankDoes) {
  const Files files;
  Recorder plain;
  Trainer(files.job("one"), {&plain}).run();
  const std::string to = fmt::format("data.staging=\"files(to='{}')\"", (files.root / "node").string());
  const char* transforms = "data.transforms=[\"scale(by=1)\"]";
  for (const int ranks : {2, 3})
    for (const std::string& staging : {std::string("data.staging=none"), to, std::string("data.staging=store")}) {
      Recorder recorder;
      const std::string name = fmt::format("{}-{}", ranks, staging == to ? "files" : staging.substr(13));
      const Ran ran = run_on(
          ranks,
          [&](int) {
            return files.job(name, {staging.c_str(), transforms});
          },
          recorder);
      ASSERT_EQ(ran.losses.size(), plain.losses.size()) << staging;
      for (std::size_t i = 0; i < ran.losses.size(); ++i) EXPECT_NEAR(ran.losses[i], plain.losses[i], 2e-5) << staging;
      EXPECT_EQ(ran.targets, plain.targets) << staging;
      if (staging == to && ranks == 2) {
        EXPECT_EQ(counter(ran.last, "train.bytes_read"), files.bytes);  // once, by all ranks together
      }
      if (staging != to && staging.ends_with("store")) {
        EXPECT_EQ(counter(ran.last, "train.samples_read"), 22);
        EXPECT_EQ(counter(ran.last, "test.samples_read"), 10);
        EXPECT_EQ(counter(ran.last, "train.bytes_sent"), counter(ran.last, "train.bytes_received"));
        EXPECT_GT(counter(ran.last, "train.bytes_sent"), 0);
      }
    }
}

// Rank 0 learns from the whole set, even if no rank holds all of it.
TEST(StagedRanks, WhatIsLearnedIsLearnedFromAllSamples) {
  const Files files;
  const char* transforms = "data.transforms=[\"subtract_mean\"]";
  Recorder plain;
  Trainer(files.job("one", {transforms}), {&plain}).run();
  for (const char* staging : {"data.staging=none", "data.staging=store"}) {
    Recorder recorder;
    const Ran ran = run_on(
        2,
        [&](int) {
          return files.job(staging + 13, {transforms, staging});
        },
        recorder);
    ASSERT_EQ(ran.losses.size(), plain.losses.size());
    for (std::size_t i = 0; i < ran.losses.size(); ++i) EXPECT_NEAR(ran.losses[i], plain.losses[i], 2e-5) << staging;
    EXPECT_TRUE(fs::exists(files.root / (staging + 13) / "learned.h5"));
  }
}

// Each rank sees its own samples: 11 of 22 files, and batches of 2 + 2 from them.
TEST(StagedRanks, ShardsGiveEveryRankItsPartOfABatch) {
  const Files files;
  const std::string staging =
      fmt::format("data.staging=\"files(to='{}', scheme=shard)\"", (files.root / "node").string());
  Recorder recorder;
  const Ran ran = run_on(
      2, [&](int) { return files.job("run", {staging.c_str()}); }, recorder);
  EXPECT_EQ(ran.losses.size(), 15u);  // 3 epochs of 11 / 2 batches
  for (const StepDone& step : recorder.steps) EXPECT_EQ(step.samples, 4);
  EXPECT_EQ(ran.weights[0], ran.weights[1]);
  EXPECT_EQ(ran.predictions.size(), 30u);
  Recorder uneven;
  EXPECT_HAS(error_of([&] {
               run_on(
                   2,
                   [&](int) {
                     return files.job("uneven", {staging.c_str(), "data.batch=5"});
                   },
                   uneven);
             }),
             "cannot be shared equally by 2 ranks");
}

// Samples 0 and 1 of every batch of 4 belong to rank 0 of 2: in the second batch it has only bad ones.
TEST(BadSamples, ARankThatHasNothingElseTakesPart) {
  const Files files({4, 5, 25});
  const auto settings = {"data.bad_samples=skip", "data.shuffle=false", "train.epochs=1"};
  Recorder one, two;
  Trainer(files.job("one", settings), {&one}).run();
  const Ran ran = run_on(
      2, [&](int) { return files.job("two", settings); }, two);
  ASSERT_EQ(ran.losses.size(), one.losses.size());
  for (std::size_t i = 0; i < ran.losses.size(); ++i) EXPECT_NEAR(ran.losses[i], one.losses[i], 2e-5);
  EXPECT_EQ(two.steps[1].samples, 2);
  EXPECT_EQ(ran.epochs[0].skipped, 2);
  EXPECT_EQ(ran.epochs[0].test_skipped, 1);
  EXPECT_EQ(ran.last.skipped, 2);
  ASSERT_EQ(ran.last.first_skipped.size(), 2u);
  EXPECT_HAS(ran.last.first_skipped[0], "s04.h5");
  EXPECT_EQ(ran.targets, one.targets);
}

TEST(BadSamples, WhatCannotBeReadOnOneRankEndsAll) {
  const Files files({7});
  Recorder recorder;
  const std::string message = error_of([&] {
    run_on(
        3, [&](int) { return files.job("run"); }, recorder);
  });
  EXPECT_HAS(message, "s07.h5");
  EXPECT_HAS(message, "[rank ");
}

}  // namespace
}  // namespace isobar::train
