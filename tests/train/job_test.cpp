#include "isobar/train/job.hpp"

#include <gtest/gtest.h>

#include "isobar/base/error.hpp"

#include "tests/train/small_job.hpp"

namespace isobar::train {
namespace {

std::string usage_error(const std::string& setting) {
  Spec recipe = parse_recipe(small_recipe, "test");
  apply_setting(recipe, setting);
  try {
    read_small_job(recipe);
  } catch (const UsageError& e) {
    return e.what();
  }
  return "no error";
}

TEST(Job, WrongKeysAreAnsweredWithTheNearest) {
  EXPECT_NE(usage_error("train.epoch=3").find("did you mean 'epochs'"), std::string::npos)
      << usage_error("train.epoch=3");
  EXPECT_NE(usage_error("optimiser=sgd").find("did you mean 'optimizer'"), std::string::npos);
  EXPECT_NE(usage_error("data.bach=3").find("did you mean 'batch'"), std::string::npos);
  EXPECT_NE(usage_error("optimizer=adm").find("did you mean 'adam'"), std::string::npos);
  EXPECT_NE(usage_error("optimizer=adam(rl=1)").find("unknown argument 'rl'"), std::string::npos);
  EXPECT_NE(usage_error("train.metrics=[\"accuracie\"]").find("metric"), std::string::npos);
}

TEST(Job, TransformsOfBothSets) {
  EXPECT_NE(usage_error("data.transforms=[\"mirorr\"]").find("did you mean 'mirror'"), std::string::npos);
  const char* bigger = "data.test=\"noise(shape=[7, 6, 2], targets=3)\"";
  EXPECT_NO_THROW(small_job("runs/x", {bigger, "data.transforms=[\"crop(size=6)\"]"}));
  EXPECT_THROW(small_job("runs/x", {bigger, "data.transforms=[\"subtract_mean\", \"crop(size=6)\"]"}), Error);
}

TEST(Job, WrongValuesAreNamed) {
  EXPECT_NE(usage_error("train.epochs=many").find("epochs"), std::string::npos);
  EXPECT_NE(usage_error("train.epochs=0").find("at least 1"), std::string::npos);
  EXPECT_NE(usage_error("data.batch=-1").find("at least 1"), std::string::npos);
  EXPECT_NE(usage_error("model=3").find("model"), std::string::npos);
}

TEST(Job, TheResolvedRecipeReadsBackToItself) {
  const Job job = small_job("runs/x", {"data.transforms=[\"mirror\", \"standardize(mean=[1, 2])\"]"});
  EXPECT_NE(write_recipe(job.recipe).find("std=[1"), std::string::npos) << write_recipe(job.recipe);
  const Spec again = parse_recipe(write_recipe(job.recipe), "resolved");
  const Job second = read_small_job(again);
  EXPECT_EQ(write_recipe(job.recipe), write_recipe(second.recipe));
  EXPECT_NE(write_recipe(job.recipe).find("beta1"), std::string::npos);
}

TEST(Job, ABatchIsOfAllRanksOrOfEach) {
  const Job together = small_job("runs/x"), each = small_job("runs/x", {"data.batch=0", "data.batch_per_rank=2"});
  EXPECT_EQ(together.batch, 4);
  EXPECT_EQ(together.batch_per_rank, 0);
  EXPECT_EQ(each.batch_per_rank, 2);
  EXPECT_NE(write_recipe(each.recipe).find("batch_per_rank = 2\nbatch = 0\n"), std::string::npos)
      << write_recipe(each.recipe);
  EXPECT_NE(usage_error("data.batch_per_rank=2").find("the other is 0"), std::string::npos);
}

TEST(Job, DeterminismReachesTheStrategy) {
  const Job job = small_job("runs/x", {"train.deterministic=true", "train.clip_norm=2.5", "train.micro_batches=2"});
  EXPECT_TRUE(job.deterministic);
  EXPECT_EQ(job.clip_norm, 2.5);
  EXPECT_NE(write_recipe(job.recipe).find("sync(algorithm"), std::string::npos) << write_recipe(job.recipe);
  EXPECT_NE(write_recipe(job.recipe).find("deterministic=true"), std::string::npos) << write_recipe(job.recipe);
  EXPECT_THROW(small_job("runs/x", {"train.deterministic=true", "data.bad_samples=skip"}), UsageError);
  EXPECT_THROW(small_job("runs/x", {"train.deterministic=true", "train.sync_batch_norm=true"}), UsageError);
  EXPECT_THROW(small_job("runs/x", {"train.sync_batch_norm=true", "data.bad_samples=skip"}), UsageError);
  EXPECT_THROW(small_job("runs/x", {"train.clip_norm=-1"}), UsageError);
}

TEST(Job, OneRankAloneCanBeDeterministic) {
  const Job job = small_job("runs/x", {"strategy=solo", "train.deterministic=true"});
  EXPECT_FALSE(job.gradients_in_arena);
  const Job again = read_small_job(parse_recipe(write_recipe(job.recipe), "resolved"));
  EXPECT_EQ(write_recipe(again.recipe), write_recipe(job.recipe));
  // What it does not need to say, it does not say.
  const Job plain = small_job("runs/x", {"strategy=solo"});
  EXPECT_TRUE(plain.gradients_in_arena);
  EXPECT_NE(write_recipe(plain.recipe).find("strategy = \"solo\""), std::string::npos) << write_recipe(plain.recipe);
}

TEST(Job, WaitsBetweenStepsAreThoseOfTheStrategy) {
  const Job job = small_job("runs/x", {"strategy=\"lagged(warn_seconds=2, stall_seconds=7)\""});
  EXPECT_EQ(job.limits.warn_seconds, 2);
  EXPECT_EQ(job.limits.stall_seconds, 7);
  const Job alone = small_job("runs/x", {"strategy=solo"});
  EXPECT_EQ(alone.limits.warn_seconds, WaitLimits().warn_seconds);
  EXPECT_EQ(alone.limits.stall_seconds, WaitLimits().stall_seconds);
}

}  // namespace
}  // namespace isobar::train
