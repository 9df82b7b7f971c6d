// What a run does with tuning: it is kept in its folder and stays what it was when the run goes on.
#include "isobar/train/run_tuning.hpp"

#include <fstream>

#include <gtest/gtest.h>

#include "isobar/ops/tuning_text.hpp"
#include "isobar/train/trainer.hpp"

#include "tests/train/small_job.hpp"

namespace isobar::train {
namespace {

// The weight gradient of a convolution by products of matrices, in two pieces.
ops::Tuning example() {
  ops::Tuning tuning;
  tuning.set("c", ops::Direction::weight_gradient, {{{"im2col", 1}, {"im2col", 3}}});
  return tuning;
}

Job conv_job(const std::filesystem::path& folder, const std::vector<const char*>& settings = {}) {
  Job job = small_job(folder, settings);
  job.model.graph = [](std::int64_t batch) {
    graph::Graph g;
    graph::ValueId h = g.add("conv(filters=4, kernel=3)", g.input("x", {batch, 6, 6, 2}), "c");
    h = g.add("dense(units=3)", g.add("flatten", h), "fc");
    g.output("prediction", h);
    g.loss(g.add("mse", {h, g.input("y", {batch, 3})}, "loss"));
    return g;
  };
  return job;
}

Job tuned_job(const std::filesystem::path& folder, const std::vector<const char*>& settings = {}) {
  Job job = conv_job(folder, settings);
  job.remembered_tuning = [text = ops::tuning_text(example())](std::int64_t rows) {
    return rows == 4 ? text : std::string();
  };
  return job;
}

bool is_tuned(const Trainer& trainer) {
  for (const graph::PlanStep& step : trainer.plan().steps)
    if (step.kernel == "weight gradient by im2col 1+3") return true;
  return false;
}

TEST(RunTuning, IsUsedAndKeptInTheFolder) {
  const TemporaryFolder folder;
  Trainer trainer(tuned_job(folder.path() / "run"), {});
  EXPECT_TRUE(is_tuned(trainer));
  trainer.run();
  std::ifstream in(folder.path() / "run" / "tuning.txt");
  const std::string text(std::istreambuf_iterator<char>(in), {});
  ASSERT_TRUE(ops::parse_tuning(text)) << text;
  EXPECT_EQ(*ops::parse_tuning(text), example());
}

TEST(RunTuning, StaysWhatItWasWhenTheRunGoesOn) {
  const TemporaryFolder folder;
  Trainer(tuned_job(folder.path() / "run"), {}).run();
  Job job = conv_job(folder.path() / "run", {"train.epochs=4"});  // nothing is remembered any more
  job.resume = true;
  EXPECT_TRUE(is_tuned(Trainer(std::move(job), {})));

  Trainer(conv_job(folder.path() / "plain"), {}).run();
  Job later = tuned_job(folder.path() / "plain", {"train.epochs=4"});  // the run began without
  later.resume = true;
  EXPECT_FALSE(is_tuned(Trainer(std::move(later), {})));
}

TEST(RunTuning, CanBeSwitchedOff) {
  const TemporaryFolder folder;
  EXPECT_FALSE(is_tuned(Trainer(tuned_job(folder.path() / "a", {"train.tuned=false"}), {})));
  EXPECT_FALSE(is_tuned(Trainer(tuned_job(folder.path() / "b", {"train.deterministic=true"}), {})));
  EXPECT_FALSE(is_tuned(Trainer(tuned_job(folder.path() / "c", {"data.batch=3"}), {})));
}

TEST(RunTuning, ADamagedFileIsLeftAside) {
  const TemporaryFolder folder;
  Trainer(tuned_job(folder.path() / "run"), {}).run();
  std::ofstream(folder.path() / "run" / "tuning.txt") << "isobar tuning 1\nforward";
  Job job = tuned_job(folder.path() / "run", {"train.epochs=4"});
  job.resume = true;
  testing::internal::CaptureStderr();
  EXPECT_FALSE(is_tuned(Trainer(std::move(job), {})));
  EXPECT_NE(testing::internal::GetCapturedStderr().find("damaged"), std::string::npos);
}

}  // namespace
}  // namespace isobar::train
