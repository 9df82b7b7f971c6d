// The state of a run: taken after the last finished step, put into another model, saved without a trace in the run.
#include "isobar/train/keeper.hpp"

#include <gtest/gtest.h>

#include "isobar/train/run_folder.hpp"

#include "tests/train/recorder.hpp"

namespace isobar::train {
namespace {

// The parts of a trainer up to the keeper, alone on one rank.
struct Kitchen {
  explicit Kitchen(const std::filesystem::path& folder, Carried* carried = nullptr,
                   const std::vector<const char*>& settings = {})
      : job(small_job(folder, settings)),
        members(*world, *world, carried),
        session(std::move(job), groups, trace, false),
        keeper(session, listeners) {}

  StepTrace trace;
  std::unique_ptr<comm::Comm> world = comm::alone();
  Recorder recorder;
  Listeners listeners{{&recorder}, true};
  Job job;
  RunGroups groups{*world, *job.split, *job.strategy};
  Membership members;
  Session session;
  Keeper keeper;
};

TEST(Keeper, ANewRunBeginsAtNothing) {
  const TemporaryFolder folder;
  Kitchen run(folder.path() / "run");
  run.keeper.open(run.members);
  EXPECT_EQ(run.keeper.position().step, 0);
  EXPECT_EQ(run.keeper.position().batch, 4);
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "run" / "recipe.toml"));
}

TEST(Keeper, WhatIsTakenIsTheLastFinishedStep) {
  const TemporaryFolder folder;
  Kitchen run(folder.path() / "run");
  run.keeper.open(run.members);
  run.keeper.position().step = 3;
  run.keeper.finish();
  run.keeper.position().step = 4;  // under way
  checkpoint::Snapshot taken;
  run.keeper.take(taken);
  EXPECT_EQ(taken.position.step, 3);
  EXPECT_FALSE(taken.numbers.empty());
}

TEST(Keeper, AStateInMemoryGoesIntoAnotherModel) {
  const TemporaryFolder folder;
  Carried carried;
  Kitchen before(folder.path() / "run", &carried);
  before.keeper.open(before.members);
  std::ranges::fill(before.session.store().all_weights(), 0.5f);
  before.keeper.position().step = 2;
  before.keeper.finish(EpochDone{.epoch = 1, .step = 2, .train_loss = 3});
  before.members.leave([&](checkpoint::Snapshot& into) { before.keeper.take(into); }, {}, false);
  Kitchen after(folder.path() / "run", &carried, {"seed=9"});
  after.keeper.open(after.members);
  EXPECT_EQ(after.keeper.position().step, 2);
  EXPECT_EQ(plain_weights(after.session.store()), plain_weights(before.session.store()));
  checkpoint::Snapshot taken;
  after.keeper.take(taken);
  EXPECT_EQ(taken.metrics, "{\"epoch\":1,\"step\":2,\"train_loss\":3.0}\n");
}

TEST(Keeper, SavingIsToldAndCanBeReadAgain) {
  const TemporaryFolder folder;
  {
    Kitchen run(folder.path() / "run");
    run.keeper.open(run.members);
    run.keeper.position().step = 2;
    run.keeper.finish();
    EXPECT_EQ(run.keeper.save_last(), "");
    EXPECT_EQ(run.recorder.checkpoints, 1);
    EXPECT_EQ(run.keeper.counts().written, 1);
  }
  Job job = small_job(folder.path() / "run");
  EXPECT_TRUE(take_over_folder(job, divide_batch(job, 1)));
  EXPECT_FALSE(newest_in(folder.path() / "run").empty());
}

}  // namespace
}  // namespace isobar::train
