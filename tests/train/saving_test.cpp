#include "isobar/train/saving.hpp"

#include <condition_variable>
#include <mutex>

#include <gtest/gtest.h>

#include "isobar/base/error.hpp"
#include "isobar/disk/disk_warnings.hpp"

#include "tests/expect_error.hpp"
#include "tests/train/small_job.hpp"

namespace isobar::train {
namespace {

// A disk that writes nothing until it is told to continue.
class SlowDisk {
 public:
  std::uintmax_t write(const std::filesystem::path& file, const checkpoint::Snapshot& snapshot) {
    std::unique_lock lock(mutex_);
    ++begun_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return open_; });
    return checkpoint::write_checkpoint(file, snapshot);
  }
  void await_begun(int count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return begun_ >= count; });
  }
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
  int begun_ = 0;
};

class SavingTest : public testing::Test {
 protected:
  SavingTest() { shelf_.tidy(); }

  void fill(checkpoint::Snapshot& draft, std::int64_t step) const {
    checkpoint::take_snapshot(draft, store_, {.step = step}, {});
  }
  void save(Saving& saving, std::int64_t step, checkpoint::SaveAs as = {}) const {
    fill(saving.draft(), step);
    saving.begin(as, 0, 0.5);
  }
  std::vector<std::int64_t> steps() const {
    std::vector<std::int64_t> all;
    for (const auto& item : shelf_.list()) all.push_back(item.step);
    return all;
  }
  checkpoint::CheckpointWriter::Write onto(SlowDisk& disk) const {
    return [&disk](const std::filesystem::path& file, const checkpoint::Snapshot& snapshot) {
      return disk.write(file, snapshot);
    };
  }
  using Steps = std::vector<std::int64_t>;
  static constexpr double none = std::numeric_limits<double>::quiet_NaN();

  const TemporaryFolder folder_;
  const checkpoint::CheckpointShelf shelf_{folder_.path(), 2};
  const exec::ParamStore store_{graph::make_plan(dense_model("dense_net", {}).graph(2)), 0};
};

TEST_F(SavingTest, IsDueByStepsEpochsAndTheClock) {
  Saving by_steps({.every_steps = 10, .every_minutes = 0}, folder_.path(), 20, 0, none);
  EXPECT_FALSE(by_steps.due_after(20, 1e9)) << "it goes on from there";
  EXPECT_FALSE(by_steps.due_after(21, 1e9));
  EXPECT_TRUE(by_steps.due_after(30, 0));
  EXPECT_TRUE(by_steps.due_behind(3, 30, 0, {}).step);
  EXPECT_FALSE(by_steps.due_behind(3, 31, 0, {}).step);

  Saving by_clock({.every_minutes = 0.5}, folder_.path(), 0, 100, none);
  EXPECT_FALSE(by_clock.due_after(5, 129));
  EXPECT_TRUE(by_clock.due_after(5, 130));
  fill(by_clock.draft(), 5);
  by_clock.begin({}, 130, 0);
  by_clock.finish();
  EXPECT_FALSE(by_clock.due_after(6, 159));
  EXPECT_TRUE(by_clock.due_after(7, 160));

  Saving by_epochs({.every_epochs = 2, .every_minutes = 0}, folder_.path(), 0, 0, none);
  EXPECT_FALSE(by_epochs.due_after(1000, 1e9));
  EXPECT_FALSE(by_epochs.due_behind(1, 10, 0, {}).step);
  EXPECT_TRUE(by_epochs.due_behind(2, 20, 0, {}).step);
}

TEST_F(SavingTest, TheBestIsKeptBesideTheNewest) {
  const SaveOptions options{.every_minutes = 0, .best = "accuracy", .keep = 1};
  Saving saving(options, folder_.path(), 0, 0, none);
  const auto evaluated = [&](std::int64_t step, double accuracy) {
    const checkpoint::SaveAs as = saving.due_behind(step, step, 0, {{"accuracy", accuracy}, {"loss", 1}});
    if (as.best) save(saving, step, as), saving.finish();
    return as.best;
  };
  EXPECT_TRUE(evaluated(1, 0.5));
  EXPECT_FALSE(evaluated(2, 0.4));
  EXPECT_TRUE(evaluated(3, 0.6));
  EXPECT_FALSE(evaluated(4, none));
  EXPECT_TRUE(steps().empty());
  EXPECT_EQ(checkpoint::CheckpointFile(shelf_.best_file()).position().step, 3);
  EXPECT_EQ(checkpoint::CheckpointFile(shelf_.best_file()).index().best, 0.6);
  save(saving, 5, {.step = true, .best = true});
  saving.finish();
  EXPECT_EQ(steps(), Steps{5});
  EXPECT_EQ(checkpoint::CheckpointFile(shelf_.best_file()).position().step, 5);

  // Resumed with the best result so far, and a metric for which smaller is better.
  Saving resumed(options, folder_.path(), 5, 0, 0.6);
  EXPECT_FALSE(resumed.due_behind(6, 6, 0, {{"accuracy", 0.6}}).best);
  Saving error({.every_minutes = 0, .best = "mae"}, folder_.path(), 5, 0, 0.6);
  EXPECT_TRUE(error.due_behind(6, 6, 0, {{"mae", 0.5}}).best);
  EXPECT_FALSE(error.due_behind(6, 6, 0, {{"mae", 0.7}}).best);
  testing::internal::CaptureStderr();
  EXPECT_FALSE(error.due_behind(6, 6, 0, {{"loss", 0.7}}).best);
  EXPECT_HAS(testing::internal::GetCapturedStderr(), "'mae' is not a result of an evaluation");
}

TEST_F(SavingTest, ADiskThatHangsHoldsUpNobody) {
  SlowDisk disk;
  Saving saving({.every_steps = 1, .every_minutes = 0}, folder_.path(), 0, 0, none, onto(disk));
  testing::internal::CaptureStderr();
  ASSERT_TRUE(saving.due_after(1, 0));
  save(saving, 1);
  disk.await_begun(1);
  for (std::int64_t step = 2; step < 50; ++step) EXPECT_FALSE(saving.due_after(step, 0));
  EXPECT_TRUE(saving.completed().empty());
  disk.open();
  const auto done = saving.finish();
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_HAS(said, "after step 2 is left out");
  EXPECT_EQ(said.find("left out", said.find("left out") + 1), said.rfind("left out")) << "said once: " << said;
  EXPECT_EQ(saving.counts().left_out, 48);
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].step, 1);
  EXPECT_EQ(done[0].seconds, 0.5) << "what the run stood still for";
  EXPECT_GT(done[0].bytes, 1000);
  EXPECT_TRUE(saving.due_after(50, 0));
}

TEST_F(SavingTest, ADiskThatTakesNothingIsWarnedOfOncePerOutage) {
  bool full = false;
  const auto write = [&](const std::filesystem::path& file, const checkpoint::Snapshot& snapshot) {
    if (full) throw disk::DiskError(file, "No space left on device");
    return checkpoint::write_checkpoint(file, snapshot);
  };
  Saving saving({.every_steps = 1}, folder_.path(), 0, 0, none, write);
  testing::internal::CaptureStderr();
  const auto run = [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t step = from; step <= to; ++step) save(saving, step), saving.finish();
  };
  run(1, 3);
  full = true;
  run(4, 9);
  EXPECT_HAS(saving.last_problem(), "No space left");
  EXPECT_EQ(steps(), (Steps{3, 2})) << "earlier ones are intact";
  full = false;
  run(10, 11);
  EXPECT_EQ(saving.last_problem(), "");
  EXPECT_EQ(steps(), (Steps{11, 10}));
  full = true;
  run(12, 13);
  disk::disk_warnings().conclude();
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(saving.counts().failed, 8);
  EXPECT_EQ(saving.counts().written, 5);
  std::size_t warnings = 0;
  for (std::size_t at = said.find("tries again"); at != std::string::npos; at = said.find("tries again", at + 1))
    ++warnings;
  EXPECT_EQ(warnings, 2u) << said;
  EXPECT_HAS(said, "checkpoints cannot be written: No space left on device; the run goes on");
  EXPECT_HAS(said, "checkpoints can be written again; nothing was lost");
}

// A checkpoint that nothing waits for any more ends up either complete or absent.
TEST_F(SavingTest, CanBeLeftToItself) {
  auto disk = std::make_shared<SlowDisk>();
  {
    Saving saving({}, folder_.path(), 0, 0, none,
                  [disk](const std::filesystem::path& file, const checkpoint::Snapshot& snapshot) {
                    return disk->write(file, snapshot);
                  });
    save(saving, 1);
    disk->await_begun(1);
    saving.release();
  }
  EXPECT_TRUE(steps().empty());
  Saving next({}, folder_.path(), 0, 0, none);
  save(next, 2);
  next.finish();
  EXPECT_EQ(steps(), (Steps{2}));
  disk->open();
}

TEST_F(SavingTest, WithoutABackgroundItIsThereAtOnce) {
  Saving saving({.background = false}, folder_.path(), 0, 0, none);
  save(saving, 1);
  EXPECT_EQ(steps(), (Steps{1}));
  const auto done = saving.completed();
  ASSERT_EQ(done.size(), 1u);
  EXPECT_GT(done[0].seconds, 0.5);
}

}  // namespace
}  // namespace isobar::train
