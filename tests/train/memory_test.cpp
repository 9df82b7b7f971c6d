// train.memory: training within a limit recomputes results and is the same training, bit for bit.
#include <gtest/gtest.h>

#include "isobar/base/error.hpp"

#include "tests/train/recorder.hpp"

namespace isobar::train {
namespace {

// Normalised convolutions on samples of 6 x 6 x 2: most of their results can be recomputed cheaply.
Model convolutions() {
  return {[](std::int64_t batch) {
            graph::Graph g;
            graph::ValueId h = g.input("x", {batch, 6, 6, 2});
            for (int i = 0; i < 6; ++i) {
              h = g.add("conv(filters=8, kernel=3, padding=same, bias=false)", h, fmt::format("conv{}", i));
              h = g.add("relu", g.add("batch_norm", h, fmt::format("norm{}", i)));
              h = g.add("dropout(rate=0.1)", h, fmt::format("drop{}", i));
            }
            h = g.add("dense(units=3)", g.add("flatten", h), "fc");
            g.output("prediction", h);
            g.loss(g.add("mse", {h, g.input("y", {batch, 3})}, "loss"));
            return g;
          },
          {"a", "b", "c"},
          Spec("convolutions"),
          Spec("mse")};
}

Job job_with(const std::filesystem::path& folder, const std::string& memory) {
  Spec recipe = parse_recipe(small_recipe, "test");
  apply_setting(recipe, "model=convolutions");
  apply_setting(recipe, "data.batch=16");
  apply_setting(recipe, "folder=\"" + folder.string() + "\"");
  if (!memory.empty()) apply_setting(recipe, "train.memory=" + memory);
  datasets::Survey survey;
  return read_job(recipe, "test", convolutions(), survey);
}

struct Result {
  std::vector<double> losses;
  std::vector<float> weights, predictions;
  std::size_t bytes = 0, again_steps = 0;
};

Result trained(const std::string& memory) {
  const TemporaryFolder folder;
  Recorder recorder;
  Trainer trainer(job_with(folder.path() / "run", memory), {&recorder});
  trainer.run();
  return {recorder.losses, plain_weights(trainer.store()), recorder.predictions,
          trainer.plan().arena_bytes + trainer.store().bytes(), trainer.plan().again_steps()};
}

TEST(Memory, ALimitChangesMemoryAndNoBit) {
  const Result free = trained("");
  EXPECT_EQ(free.again_steps, 0u);
  const std::size_t limit = free.bytes * 9 / 10;
  const Result tight = trained(std::to_string(limit));
  EXPECT_LE(tight.bytes, limit);
  EXPECT_GT(tight.again_steps, 0u);
  EXPECT_EQ(tight.losses, free.losses);
  EXPECT_EQ(tight.weights, free.weights);
  EXPECT_EQ(tight.predictions, free.predictions);
}

TEST(Memory, ALimitThatIsLargeChangesNothing) {
  const Result free = trained(""), roomy = trained("2GB");
  EXPECT_EQ(roomy.again_steps, 0u);
  EXPECT_EQ(roomy.bytes, free.bytes);
}

TEST(Memory, WhatCannotFitIsAnErrorBeforeTheFirstStep) {
  const TemporaryFolder folder;
  Recorder recorder;
  EXPECT_THROW(Trainer(job_with(folder.path() / "run", "60kB"), {&recorder}), Error);
  EXPECT_THROW(job_with(folder.path() / "run", "lots"), UsageError);
  EXPECT_THROW(job_with(folder.path() / "run", "0"), UsageError);
}

}  // namespace
}  // namespace isobar::train
