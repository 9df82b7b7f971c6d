// Runs that meet numbers that are not finite: in the data, in the weights, by too large a learning rate.
#include "isobar/train/bad_numbers.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "isobar/base/error.hpp"

#include "tests/expect_error.hpp"
#include "tests/train/recorder.hpp"
#include "tests/train/spoilt_dataset.hpp"
#include "tests/train/strategy_without.hpp"

namespace isobar::train {
namespace {

using Settings = std::vector<const char*>;

// A job with one bad sample.
JobMaker with_bad_sample(const std::filesystem::path& folder, Settings settings, std::int64_t sample = 7) {
  return [=](int) {
    Job job = small_job(folder, settings);
    spoil_sample(job, sample);
    return job;
  };
}

std::string error_on(int ranks, const JobMaker& make_job) {
  Recorder recorder;
  return tests::error_of([&] { run_on(ranks, make_job, recorder); });
}

bool all_finite(const std::vector<float>& numbers) {
  return std::ranges::all_of(numbers, [](float number) { return std::isfinite(number); });
}

TEST(BadNumbers, AreReadFromARecipe) {
  const TemporaryFolder folder;
  const auto read = [&](const Settings& settings) { return small_job(folder.path(), settings).numbers; };
  EXPECT_EQ(read({}).policy, BadNumbers::Policy::stop);
  const BadNumbers numbers =
      read({"train.bad_numbers=rewind", "train.rewind_rate=0.25", "train.rewinds=3", "train.rewind_every=7"});
  EXPECT_EQ(numbers.policy, BadNumbers::Policy::rewind);
  EXPECT_EQ(numbers.rewind_rate, 0.25);
  EXPECT_EQ(numbers.rewinds, 3);
  EXPECT_EQ(numbers.rewind_every, 7);
  EXPECT_HAS(tests::error_of([&] { read({"train.bad_numbers=ignore"}); }), "rewind");
  EXPECT_HAS(tests::error_of([&] { read({"train.rewind_rate=0"}); }), "rewind_rate");
  EXPECT_HAS(tests::error_of([&] { read({"train.rewind_every=0"}); }), "rewind_every");
  EXPECT_HAS(tests::error_of([&] { read({"train.skips_in_a_row=0"}); }), "skips_in_a_row");
}

TEST(BadNumbers, StopNamesTheSampleAndTheFieldOnItsRank) {
  for (const int ranks : {1, 2, 3}) {
    const TemporaryFolder folder;
    const std::string message = error_on(ranks, with_bad_sample(folder.path() / "run", {"data.batch=6"}));
    EXPECT_HAS(message, "the loss is nan");
    EXPECT_HAS(message, "(epoch 1)");
    EXPECT_HAS(message, "sample 7 of the training set");
    EXPECT_HAS(message, "field 'x' has 1 of 72 not finite");
    if (ranks == 1) continue;
    // Only the rank that has the sample reports it.
    const std::string rank = message.substr(0, message.find(']') + 1);
    EXPECT_HAS(message, "first on " + rank.substr(1, rank.size() - 2) + ":");
    EXPECT_EQ(message.find("[rank", 1), std::string::npos);
  }
}

TEST(BadNumbers, StopNamesAWeight) {
  const TemporaryFolder folder;
  Trainer trainer(small_job(folder.path() / "run"), {});
  trainer.store().weight(trainer.store().find("fc2.w"))[0] = std::numeric_limits<float>::infinity();
  const std::string message = tests::error_of([&] { trainer.run(); });
  EXPECT_HAS(message, "step 1 (epoch 1)");
  EXPECT_HAS(message, "weight 'fc2.w' has 1 of");
}

TEST(BadNumbers, StopNamesTheLayerWhereAWeightGrewTooLarge) {
  for (const int ranks : {1, 2}) {
    const TemporaryFolder folder;
    const std::string message = error_on(ranks, [&](int) {
      return small_job(folder.path() / "run", {"optimizer=sgd(lr=1e30)", "model=dense_net(dropout=0)"});
    });
    EXPECT_HAS(message, "forward pass");
    EXPECT_HAS(message, "layer '");
    EXPECT_HAS(message, "sample");
    EXPECT_HAS(message, "read before: '");
    EXPECT_HAS(message, "a smaller learning rate than 1e+30 may help");
  }
}

// The loss and the whole forward pass are finite: in the backward pass large inputs are multiplied by a large error.
TEST(BadNumbers, StopNamesTheLayerWhoseGradientOverflowed) {
  for (const char* strategy : {"solo", "sync", "lagged"}) {
    const TemporaryFolder folder;
    Job job = small_job(folder.path() / "run", {"model=dense_net(dropout=0)"});
    job.strategy = make(parallel::strategies(), strategy, "strategy");
    spoil(job, [](std::int64_t, auto fields) {
      for (float& x : fields[0]) x *= 1e25f;
      for (float& y : fields[1]) y = 1e18f;
    });
    Trainer trainer(std::move(job), {});
    for (float& w : trainer.store().weight(trainer.store().find("fc1.w"))) w *= 1e-25f;
    const std::string message = tests::error_of([&] { trainer.run(); });
    EXPECT_HAS(message, "backward pass");
    EXPECT_HAS(message, "layer 'fc1'");
    EXPECT_HAS(message, "tensor 'd fc1.w' has");
    EXPECT_EQ(message.find("the loss is"), std::string::npos) << message;
  }
}

struct Case {
  int ranks;
  const char* strategy;
  const char* norm;
};

// Every epoch reads the bad sample once, and the batch that holds it has no effect.
TEST(BadNumbers, SkipEqualsARunWithoutTheBadBatches) {
  for (const Case& c : {Case{1, "sync", "true"}, Case{2, "sync", "true"}, Case{3, "sync", "false"},
                        Case{2, "lagged", "true"}, Case{2, "lagged(k=2)", "false"}, Case{1, "solo", "true"}}) {
    const TemporaryFolder folder;
    const std::string model = fmt::format("model=dense_net(norm={})", c.norm);
    const std::string strategy = fmt::format("strategy={}", c.strategy);
    const Settings settings{model.c_str(), strategy.c_str(), "train.bad_numbers=skip", "data.batch=6"};
    Recorder recorder, expected;
    const Ran ran = run_on(c.ranks, with_bad_sample(folder.path() / "run", settings), recorder);
    ASSERT_GE(recorder.bad.size(), 2u);  // an epoch leaves out the samples of its last batch
    std::set<std::int64_t> dropped;
    for (const BadStep& bad : recorder.bad) {
      dropped.insert(bad.step);
      EXPECT_EQ(bad.bad.steps, std::ssize(dropped));
      EXPECT_FALSE(bad.back_to);
    }
    EXPECT_EQ(ran.last.bad.steps, std::ssize(dropped));
    EXPECT_EQ(ran.last.bad.rewinds, 0);
    EXPECT_EQ(ran.epochs.back().bad.steps, std::ssize(dropped));
    EXPECT_EQ(recorder.steps.size() + dropped.size(), 9u);
    const Ran without = run_on(
        c.ranks,
        [&](int) {
          Job job = small_job(folder.path() / "other", settings);
          job.strategy = std::make_unique<StrategyWithout>(std::move(job.strategy), dropped);
          return job;
        },
        expected);
    EXPECT_EQ(ran.weights, without.weights) << c.ranks << " ranks, " << c.strategy;
    EXPECT_TRUE(all_finite(ran.weights[0]));
  }
}

TEST(BadNumbers, TooManySkipsInARowEndTheRun) {
  const TemporaryFolder folder;
  Recorder recorder;
  Trainer trainer(small_job(folder.path() / "run", {"train.bad_numbers=skip", "train.skips_in_a_row=4"}), {&recorder});
  trainer.store().weight(0)[0] = std::numeric_limits<float>::quiet_NaN();
  const std::string message = tests::error_of([&] { trainer.run(); });
  EXPECT_HAS(message, "4 bad steps in a row were skipped, as many as train.skips_in_a_row allows");
  EXPECT_HAS(message, "step 4");
  EXPECT_EQ(recorder.bad.size(), 3u);
}

const Settings too_fast{"optimizer=sgd(lr=1e8)",    "model=dense_net(norm=true)", "train.bad_numbers=rewind",
                        "train.rewind_rate=0.0001", "train.rewind_every=2",       "train.epochs=4"};

TEST(BadNumbers, RewindFindsARateThatWorks) {
  for (const char* strategy : {"strategy=sync", "strategy=lagged"})
    for (const int ranks : {1, 2}) {
      const TemporaryFolder folder;
      Settings settings = too_fast;
      settings.push_back(strategy);
      Recorder recorder, again;
      const auto make_job = [&](int) { return small_job(folder.path() / "run", settings); };
      const Ran ran = run_on(ranks, make_job, recorder);
      ASSERT_GE(recorder.bad.size(), 1u);
      for (const BadStep& bad : recorder.bad) EXPECT_LT(bad.back_to.value(), bad.step);
      EXPECT_EQ(ran.last.reason, End::Reason::finished);
      EXPECT_EQ(ran.last.bad.steps, std::ssize(recorder.bad));
      EXPECT_EQ(ran.last.bad.rewinds, std::ssize(recorder.bad));
      EXPECT_DOUBLE_EQ(ran.last.bad.rate_scale, std::pow(0.0001, std::ssize(recorder.bad)));
      EXPECT_DOUBLE_EQ(recorder.steps.back().learning_rate, 1e8 * ran.last.bad.rate_scale);
      // Steps and samples continue: no number comes twice.
      for (std::size_t i = 1; i < recorder.steps.size(); ++i)
        EXPECT_LT(recorder.steps[i - 1].step, recorder.steps[i].step);
      EXPECT_EQ(recorder.steps.back().step, 20);
      EXPECT_TRUE(std::isfinite(ran.losses.back()));
      EXPECT_TRUE(all_finite(ran.weights[0]));
      EXPECT_GT(recorder.started.good_state_bytes, 0u);
      settings.push_back("train.epochs=4");
      EXPECT_EQ(run_on(
                    ranks, [&](int) { return small_job(folder.path() / "again", settings); }, again)
                    .weights,
                ran.weights);
    }
}

TEST(BadNumbers, RewindGivesUpInTheEnd) {
  const TemporaryFolder folder;
  const std::string message =
      error_on(2, with_bad_sample(folder.path() / "run", {"train.bad_numbers=rewind", "train.rewinds=1"}));
  EXPECT_HAS(message, "the run went back 1 times, as often as train.rewinds allows");
  EXPECT_HAS(message, "sample 7");
}

// A checkpoint is also a state to go back to for the run that continues: so a resumed run is the same.
TEST(BadNumbers, ARunThatWentBackGoesOnFromItsCheckpointBitForBit) {
  const Settings settings{"model=dense_net(norm=true)", "train.bad_numbers=rewind",  "train.rewind_rate=0.5",
                          "train.rewind_every=3",       "checkpoint.every_epochs=1", "checkpoint.background=false"};
  for (const int ranks : {1, 2}) {
    const TemporaryFolder folder;
    Recorder whole, first(5), second;
    const Ran straight = run_on(ranks, with_bad_sample(folder.path() / "whole", settings), whole);
    ASSERT_GE(whole.bad.size(), 2u);
    ASSERT_LE(whole.bad.front().step, 5);
    ASSERT_GT(whole.bad.back().step, 5);
    const auto make_job = with_bad_sample(folder.path() / "cut", settings);
    run_on(ranks, make_job, first, [&](int) { return &first.stop; });
    const Ran resumed = run_on(
        ranks,
        [&](int rank) {
          Job job = make_job(rank);
          job.resume = true;
          return job;
        },
        second);
    EXPECT_EQ(resumed.weights, straight.weights);
    EXPECT_EQ(resumed.last.bad.rewinds, straight.last.bad.rewinds);
    EXPECT_EQ(resumed.last.bad.rate_scale, straight.last.bad.rate_scale);
  }
}

}  // namespace
}  // namespace isobar::train
