// Training from staged data, and training with samples that cannot be read.
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "isobar/files/hdf5_file.hpp"
#include "isobar/train/trainer.hpp"

#include "tests/expect_error.hpp"
#include "tests/train/small_job.hpp"

namespace isobar::train {
namespace {

namespace fs = std::filesystem;
using tests::error_of;

class Recorder final : public Sink {
 public:
  explicit Recorder(std::int64_t stop_at = -1) : stop_at_(stop_at) {}
  void step(const StepDone& s) override {
    losses.push_back(s.loss);
    if (s.step == stop_at_) stop = true;
  }
  void epoch(const EpochDone& e) override { epochs.push_back(e); }
  void end(const End& e) override { last = e; }

  std::atomic<bool> stop = false;
  std::vector<double> losses;
  std::vector<EpochDone> epochs;
  End last;

 private:
  std::int64_t stop_at_;
};

/// Files with one sample each, as the network of small_job() takes them; some are torn.
struct Files {
  explicit Files(std::initializer_list<int> torn = {}) {
    const auto noise = data::make_dataset("noise(shape=[6, 6, 2], targets=3, count=32, seed=4)");
    std::vector<float> x(72), y(3);
    const std::span<float> fields[] = {x, y};
    for (int i = 0; i < 32; ++i) {
      noise->read(i, fields);
      const fs::path folder = root.path() / (i < 22 ? "train" : "test");
      fs::create_directories(folder);
      files::Hdf5File out = files::Hdf5File::create(folder / fmt::format("s{:02}.h5", i));
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
    return read_job(recipe, "test", dense_model);
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

// The count belongs to the epoch, also when the run was interrupted in the middle of it.
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

}  // namespace
}  // namespace isobar::train
