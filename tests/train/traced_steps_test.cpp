// Traced steps: which steps are traced, and that what is reported about them adds up, for every strategy.
#include <gtest/gtest.h>

#include "isobar/comm/local_comm.hpp"
#include "isobar/parallel/strategy.hpp"

#include "tests/train/recorder.hpp"

namespace isobar::train {
namespace {

struct Step {
  std::int64_t step;
  double begin, seconds;
  std::vector<Event> events;
};

// Listens on one rank.
class Watcher final : public Sink {
 public:
  bool on_every_rank() const override { return true; }
  void start(const Start& start) override { flops = start.plan->flops(); }
  void step(const StepDone& done) override { told.push_back(done); }
  void traced(const StepTraced& step) override {
    steps.push_back({step.step, step.begin, step.seconds, {step.events.begin(), step.events.end()}});
    for (const Event& event : step.events) EXPECT_LT(event.name, step.trace->names().size());
  }
  double flops = 0;
  std::vector<StepDone> told;
  std::vector<Step> steps;
};

std::vector<Watcher> watched(int ranks, const std::vector<const char*>& settings) {
  const TemporaryFolder folder;
  std::vector<Watcher> watchers(static_cast<std::size_t>(ranks));
  comm::run_ranks(
      ranks,
      [&](comm::Comm& comm) {
        omp_set_num_threads(1);
        Trainer trainer(small_job(folder.path(), settings), comm, {&watchers[static_cast<std::size_t>(comm.rank())]});
        trainer.run();
      },
      ranks);
  return watchers;
}

double seconds_of(const Step& step, Category category) {
  double sum = 0;
  for (const Event& e : step.events)
    if (e.lane == Lane::main && e.category == category) sum += e.seconds;
  return sum;
}

void expect_sound(const Step& step) {
  double at = step.begin, sum = 0;
  const double end = step.begin + step.seconds;
  bool beside = false;
  for (const Event& e : step.events) {
    EXPECT_EQ(e.step, step.step);
    EXPECT_GE(e.seconds, 0);
    EXPECT_GE(e.begin, step.begin);
    EXPECT_LE(e.begin + e.seconds, end + 1e-9);
    if (e.lane != Lane::main) {
      beside = true;
      continue;
    }
    EXPECT_FALSE(beside) << "the main lane comes first";
    EXPECT_NEAR(e.begin, at, 1e-9) << "neither gap nor overlap";
    at = e.begin + e.seconds;
    sum += e.seconds;
  }
  EXPECT_NEAR(sum, step.seconds, 1e-6 * step.seconds + 1e-9);
}

// FLOPs of the network, in forward and backward passes.
double network_flops(const Step& step) {
  double flops = 0;
  for (const Event& e : step.events)
    if (e.lane == Lane::main && e.category != Category::optimizer) flops += e.flops;
  return flops;
}

struct TracedStepsCase {
  const char* name;
  int ranks;
  int micro_batches;  // of a rank
  std::vector<const char*> settings;
};

class TracedTraining : public testing::TestWithParam<TracedStepsCase> {};

TEST_P(TracedTraining, AddUpAndCountTheFlopsOfThePlan) {
  const TracedStepsCase& c = GetParam();
  std::vector<const char*> settings{"report.trace_steps=1000",
                                    "data.train=\"noise(shape=[6, 6, 2], targets=3, count=24)\""};
  settings.insert(settings.end(), c.settings.begin(), c.settings.end());
  const std::vector<Watcher> watchers = watched(c.ranks, settings);
  for (int rank = 0; rank < c.ranks; ++rank) {
    const Watcher& watcher = watchers[static_cast<std::size_t>(rank)];
    ASSERT_EQ(watcher.steps.size(), 18u);
    EXPECT_EQ(watcher.told.size(), rank == 0 ? 18u : 0u);
    for (const Step& step : watcher.steps) {
      expect_sound(step);
      EXPECT_EQ(network_flops(step), watcher.flops * c.micro_batches);
      std::size_t sums = 0;
      for (const Event& e : step.events) sums += e.lane == Lane::exchange;
      if (c.ranks == 1) {
        EXPECT_EQ(sums, 0u);
        EXPECT_EQ(seconds_of(step, Category::communication), 0);
      } else {
        EXPECT_GE(sums, 1u);
        EXPECT_GT(seconds_of(step, Category::communication), 0);
      }
    }
  }
  for (std::size_t i = 0; i < watchers[0].told.size(); ++i) {
    EXPECT_EQ(watchers[0].told[i].step, watchers[0].steps[i].step);
    EXPECT_EQ(watchers[0].told[i].seconds, watchers[0].steps[i].seconds);
    EXPECT_NEAR(seconds_of(watchers[0].steps[i], Category::input_output), watchers[0].told[i].wait_seconds, 1e-9);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Train, TracedTraining,
    testing::Values(TracedStepsCase{"alone", 1, 1, {}}, TracedStepsCase{"solo", 1, 1, {"strategy=solo"}},
                    TracedStepsCase{"micro", 1, 2, {"train.micro_batches=2", "train.clip_norm=0.1"}},
                    TracedStepsCase{"sync", 2, 1, {}}, TracedStepsCase{"clipped", 2, 1, {"train.clip_norm=0.1"}},
                    TracedStepsCase{"lagged", 2, 1, {"strategy=lagged(k=1)"}},
                    TracedStepsCase{"deterministic", 2, 2, {"train.deterministic=true", "train.micro_batches=4"}},
                    TracedStepsCase{"ring", 2, 1, {"strategy=sync(algorithm=ring, wire=bf16)"}},
                    TracedStepsCase{
                        "joint", 2, 1, {"model=dense_net(norm=true, dropout=0)", "train.sync_batch_norm=true"}}),
    [](const auto& one) { return std::string(one.param.name); });

std::vector<std::int64_t> numbers(const Watcher& watcher) {
  std::vector<std::int64_t> all;
  for (const Step& step : watcher.steps) all.push_back(step.step);
  return all;
}

using Numbers = std::vector<std::int64_t>;

TEST(TracedSteps, AreTheSecondAndSomeSpreadOverTheRun) {
  EXPECT_EQ(numbers(watched(1, {"report.trace_steps=3"})[0]), (Numbers{2, 5, 10, 15}));
  EXPECT_EQ(numbers(watched(1, {"report.trace_steps=0"})[0]), Numbers{});
  EXPECT_EQ(numbers(watched(1, {"report.trace_steps=15"})[0]).size(), 15u);
  const auto ranks = watched(3, {"report.trace_steps=2"});
  for (const Watcher& rank : ranks) EXPECT_EQ(numbers(rank), (Numbers{2, 8, 15}));
}

TEST(TracedSteps, FollowTheRampAndDoNotDependOnAResume) {
  EXPECT_EQ(numbers(watched(1, {"report.trace_steps=1", "train.batch_ramp=linear(to=3, over=2)"})[0]).size(), 2u);
  const TemporaryFolder folder;
  Recorder stopping(7);
  Trainer(small_job(folder.path(), {"report.trace_steps=3"}), {&stopping}).run(&stopping.stop);
  Job job = small_job(folder.path(), {"report.trace_steps=3"});
  job.resume = true;
  Watcher watcher;
  Trainer(std::move(job), {&watcher}).run();
  EXPECT_EQ(numbers(watcher), (Numbers{9, 10, 15}));
}

TEST(TracedSteps, TheWholeRunIsAddedUpWithIdleTime) {
  const TemporaryFolder folder;
  Recorder recorder;
  Trainer trainer(small_job(folder.path(), {"report.trace_steps=0"}), {&recorder});
  trainer.run();
  double sum = 0, told = 0;
  for (int c = 0; c < category_count; ++c) sum += trainer.trace().total(static_cast<Category>(c)).seconds;
  for (const StepDone& step : recorder.steps) told += step.seconds;
  EXPECT_NEAR(sum, told, 1e-6 * told + 1e-9);
  EXPECT_GT(trainer.trace().total(Category::idle).seconds, 0);
}

}  // namespace
}  // namespace isobar::train
