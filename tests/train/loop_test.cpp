// A run that is driven piece by piece is the run that trains to its end by itself.
#include "isobar/train/loop.hpp"

#include <gtest/gtest.h>

#include "tests/train/recorder.hpp"

namespace isobar::train {
namespace {

struct Driven {
  std::vector<double> losses;
  std::vector<float> weights;
};

// In pieces of so many steps; 0: in one.
Driven drive(std::int64_t steps, const std::vector<const char*>& settings = {}) {
  const TemporaryFolder folder;
  Recorder recorder;
  Trainer trainer(small_job(folder.path() / "run", settings), {&recorder});
  if (steps == 0) {
    EXPECT_EQ(trainer.run(), End::Reason::finished);
  } else {
    trainer.open();
    for (std::int64_t step = steps; trainer.position().epoch < 3; step += steps) {
      EXPECT_TRUE(trainer.advance({.step = step}));
      EXPECT_LE(trainer.position().step, step);
    }
    EXPECT_EQ(trainer.close(), End::Reason::finished);
  }
  return {recorder.losses, plain_weights(trainer.store())};
}

TEST(Loop, PiecesAreTheWholeRun) {
  for (const std::vector<const char*>& settings :
       {std::vector<const char*>{}, {"strategy=lagged(k=2)"}, {"data.batch=6", "train.batch_ramp=\"linear(to=3)\""}}) {
    const Driven whole = drive(0, settings);
    ASSERT_GT(whole.losses.size(), 5u);
    for (const std::int64_t steps : {1, 2, 4, 100}) {
      const Driven pieces = drive(steps, settings);
      EXPECT_EQ(pieces.losses, whole.losses) << steps;
      EXPECT_EQ(pieces.weights, whole.weights) << steps;
    }
  }
}

TEST(Loop, PausesBehindAnEpochThatIsEvaluated) {
  const TemporaryFolder folder;
  Recorder recorder;
  Trainer trainer(small_job(folder.path() / "run"), {&recorder});
  trainer.open();
  EXPECT_TRUE(trainer.advance({.epoch = 1}));
  EXPECT_EQ(trainer.position().epoch, 1);
  EXPECT_EQ(trainer.position().step, 5);
  EXPECT_FALSE(trainer.last_evaluation().results.empty());
  EXPECT_TRUE(trainer.advance({.epoch = 1})) << "nothing is left to be done";
  EXPECT_EQ(trainer.position().step, 5);
  EXPECT_TRUE(trainer.advance({.step = 7}));
  EXPECT_EQ(trainer.position().step, 7);
}

TEST(Loop, WhatIsClosedBeforeItsEndCanBeResumed) {
  const TemporaryFolder folder;
  const Driven whole = drive(0);
  std::vector<double> losses;
  for (const bool resumed : {false, true}) {
    Recorder recorder;
    Job job = small_job(folder.path() / "run");
    job.resume = resumed;
    Trainer trainer(std::move(job), {&recorder});
    trainer.open();
    EXPECT_TRUE(trainer.advance(resumed ? Until{} : Until{.step = 8}));
    EXPECT_EQ(trainer.close(), resumed ? End::Reason::finished : End::Reason::interrupted);
    losses.insert(losses.end(), recorder.losses.begin(), recorder.losses.end());
    EXPECT_EQ(plain_weights(trainer.store()) == whole.weights, resumed);
  }
  EXPECT_EQ(losses, whole.losses);
}

TEST(Loop, AStopIsToldAndHeld) {
  const TemporaryFolder folder;
  Recorder recorder(/*stop_at=*/3);
  Trainer trainer(small_job(folder.path() / "run"), {&recorder});
  trainer.open();
  EXPECT_FALSE(trainer.advance({}, &recorder.stop));
  EXPECT_EQ(trainer.position().step, 3);
  EXPECT_EQ(trainer.close(), End::Reason::interrupted);
}

}  // namespace
}  // namespace isobar::train
