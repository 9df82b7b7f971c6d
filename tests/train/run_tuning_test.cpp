// What a run does with tuning: it is kept in the run's folder and stays the same when the run continues.
#include "isobar/train/run_tuning.hpp"

#include <fstream>

#include <gtest/gtest.h>

#include "isobar/ops/tuning_text.hpp"
#include "isobar/train/trainer.hpp"
#include "isobar/tune/remembered.hpp"

#include "tests/train/small_job.hpp"

namespace isobar::train {
namespace {

// The weight gradient of a convolution by matrix products, in two pieces.
const ops::NamedChoice example_choice{"c", ops::Direction::weight_gradient, {{{"im2col", 1}, {"im2col", 3}}}};

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

// As if 'isobar plan --tune' had been run for batches of four, while this exists.
class TunedBefore {
 public:
  TunedBefore() {
    const TemporaryFolder folder;
    cache_ = tune::cache_of(conv_job(folder.path() / "run").model.resolved, 4);
    tune::TuningRecord record{.complete = true};
    record.findings.push_back({.chosen = example_choice});
    tune::write_tuning(cache_, record);
  }
  ~TunedBefore() { std::filesystem::remove(cache_.file); }

 private:
  tune::TuningCache cache_;
};

bool is_tuned(const Trainer& trainer) {
  for (const graph::PlanStep& step : trainer.plan().steps)
    if (step.kernel == "weight gradient by im2col 1+3") return true;
  return false;
}

TEST(RunTuning, IsUsedAndKeptInTheFolder) {
  const TunedBefore tuned;
  const TemporaryFolder folder;
  Trainer trainer(conv_job(folder.path() / "run"), {});
  EXPECT_TRUE(is_tuned(trainer));
  trainer.run();
  std::ifstream in(folder.path() / "run" / "tuning.txt");
  const std::string text(std::istreambuf_iterator<char>(in), {});
  ASSERT_TRUE(ops::parse_tuning(text)) << text;
  EXPECT_EQ(*ops::parse_tuning(text), tune::tuning_of({{.chosen = example_choice}}));
}

TEST(RunTuning, StaysWhatItWasWhenTheRunGoesOn) {
  const TemporaryFolder folder;
  std::optional<TunedBefore> tuned(std::in_place);
  Trainer(conv_job(folder.path() / "run"), {}).run();
  tuned.reset();  // nothing is remembered any more
  Job job = conv_job(folder.path() / "run", {"train.epochs=4"});
  job.resume = true;
  EXPECT_TRUE(is_tuned(Trainer(std::move(job), {})));

  Trainer(conv_job(folder.path() / "plain"), {}).run();
  tuned.emplace();
  Job later = conv_job(folder.path() / "plain", {"train.epochs=4"});  // the run began without tuning
  later.resume = true;
  EXPECT_FALSE(is_tuned(Trainer(std::move(later), {})));
}

TEST(RunTuning, CanBeSwitchedOff) {
  const TunedBefore tuned;
  const TemporaryFolder folder;
  EXPECT_FALSE(is_tuned(Trainer(conv_job(folder.path() / "a", {"train.tuned=false"}), {})));
  EXPECT_FALSE(is_tuned(Trainer(conv_job(folder.path() / "b", {"train.deterministic=true"}), {})));
  EXPECT_FALSE(is_tuned(Trainer(conv_job(folder.path() / "c", {"data.batch=3"}), {})));
}

TEST(RunTuning, ADamagedFileIsLeftAside) {
  const TunedBefore tuned;
  const TemporaryFolder folder;
  Trainer(conv_job(folder.path() / "run"), {}).run();
  std::ofstream(folder.path() / "run" / "tuning.txt") << "isobar tuning 1\nforward";
  Job job = conv_job(folder.path() / "run", {"train.epochs=4"});
  job.resume = true;
  testing::internal::CaptureStderr();
  EXPECT_FALSE(is_tuned(Trainer(std::move(job), {})));
  EXPECT_NE(testing::internal::GetCapturedStderr().find("damaged"), std::string::npos);
}

}  // namespace
}  // namespace isobar::train
