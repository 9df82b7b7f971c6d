// Training on several ranks: the same batches, the same results as on one.
#include <cmath>
#include <fstream>

#include <gtest/gtest.h>

#include "isobar/hdf5/hdf5_file.hpp"

#include "tests/expect_error.hpp"
#include "tests/train/recorder.hpp"

namespace isobar::train {
namespace {

using Settings = std::vector<const char*>;

void expect_near(const Ran& a, const Ran& b, double tolerance) {
  ASSERT_EQ(a.losses.size(), b.losses.size());
  for (std::size_t i = 0; i < a.losses.size(); ++i) EXPECT_NEAR(a.losses[i], b.losses[i], tolerance) << "step " << i;
  ASSERT_EQ(a.weights[0].size(), b.weights[0].size());
  for (std::size_t i = 0; i < a.weights[0].size(); ++i) ASSERT_NEAR(a.weights[0][i], b.weights[0][i], tolerance) << i;
  ASSERT_EQ(a.epochs.size(), b.epochs.size());
  for (std::size_t e = 0; e < a.epochs.size(); ++e) {
    EXPECT_NEAR(a.epochs[e].train_loss, b.epochs[e].train_loss, tolerance);
    ASSERT_EQ(a.epochs[e].test.size(), b.epochs[e].test.size());
    for (const auto& [name, value] : a.epochs[e].test) EXPECT_NEAR(value, b.epochs[e].test.at(name), tolerance) << name;
  }
  EXPECT_EQ(a.targets, b.targets);  // every sample once, in order
  ASSERT_EQ(a.predictions.size(), b.predictions.size());
  for (std::size_t i = 0; i < a.predictions.size(); ++i)
    EXPECT_NEAR(a.predictions[i], b.predictions[i], tolerance) << i;
}

void expect_equal_ranks(const Ran& ran) {
  for (const auto& weights : ran.weights) EXPECT_EQ(weights, ran.weights[0]);
}

TEST(Ranks, AnyNumberOfThemTrainsAsOneDoes) {
  const TemporaryFolder folder;
  for (const char* batch : {"data.batch=8", "data.batch=5", "data.batch=2"}) {  // 5 is uneven, 2 leaves ranks idle
    const Ran one = run_on(1, folder.path() / batch / "1", {batch, "strategy=sync"});
    EXPECT_EQ(one.predictions.size(), 30u);
    for (const int ranks : {2, 3, 4}) {
      const Ran many = run_on(ranks, folder.path() / batch / std::to_string(ranks), {batch, "strategy=sync"});
      expect_near(one, many, 2e-5);
      expect_equal_ranks(many);
    }
  }
}

TEST(Ranks, NodesMakeNoDifference) {
  const TemporaryFolder folder;
  const Ran one = run_on(1, folder.path() / "1", {"data.batch=8"});
  for (const auto& [ranks, per_node] : {std::pair{3, 1}, std::pair{4, 2}}) {
    Recorder recorder;
    const auto job = [&](int) { return small_job(folder.path() / std::to_string(ranks), {"data.batch=8"}); };
    const Ran many = run_on(ranks, job, recorder, {}, per_node);
    EXPECT_EQ(recorder.started.nodes, ranks == 3 ? 3 : 2);
    expect_near(one, many, 2e-5);
    expect_equal_ranks(many);
  }
}

TEST(Ranks, MicroBatchesAddUpToTheBatch) {
  const TemporaryFolder folder;
  const Ran whole = run_on(1, folder.path() / "whole", {"data.batch=8"});
  const Ran four = run_on(1, folder.path() / "four", {"data.batch=8", "train.micro_batches=4"});
  const Ran two_each = run_on(2, folder.path() / "two", {"data.batch=8", "train.micro_batches=4"});
  const Ran per_rank = run_on(2, folder.path() / "rank", {"data.batch=0", "data.batch_per_rank=4"});
  for (const Ran* other : {&four, &two_each, &per_rank}) expect_near(whole, *other, 2e-5);
}

std::vector<float> checkpoint_numbers(const std::filesystem::path& file) {
  const hdf5::Hdf5File in = hdf5::Hdf5File::open(file);
  std::vector<float> all;
  for (const char* group : {"weights", "slots/0", "slots/1"})
    for (const std::string& name : in.children(group)) {
      const std::string path = fmt::format("{}/{}", group, name);
      std::vector<float> numbers(static_cast<std::size_t>(in.shape(path).count()));
      in.read<float>(path, numbers);
      all.insert(all.end(), numbers.begin(), numbers.end());
    }
  return all;
}

TEST(Ranks, DeterministicGivesTheSameBitsOnOneTwoAndFour) {
  const TemporaryFolder folder;
  const Settings settings{"data.batch=8", "model=dense_net(norm=true)", "train.deterministic=true"};
  const Ran one = run_on(1, folder.path() / "1", settings);
  const std::vector<float> wanted = checkpoint_numbers(newest_in(folder.path() / "1"));
  EXPECT_GT(wanted.size(), 3u * 600);
  for (const int ranks : {2, 4}) {
    const Ran many = run_on(ranks, folder.path() / std::to_string(ranks), settings);
    EXPECT_EQ(one.losses, many.losses);
    EXPECT_EQ(checkpoint_numbers(newest_in(folder.path() / std::to_string(ranks))), wanted);
    expect_equal_ranks(many);
  }
  EXPECT_HAS(tests::error_of([&] { run_on(3, folder.path() / "3", settings); }), "3 ranks");
  Settings solo = settings;
  solo.push_back("strategy=solo");
  EXPECT_EQ(run_on(1, folder.path() / "solo", solo).losses, one.losses);
  EXPECT_EQ(checkpoint_numbers(newest_in(folder.path() / "solo")), wanted);
}

// 22 samples in batches of 2: steps of 1, then of 4 batches from the second epoch on, where the last takes 3.
TEST(Ranks, ARampTakesSeveralBatchesAtOnce) {
  const TemporaryFolder folder;
  const Settings ramp{"data.batch=2", "train.epochs=2", "train.batch_ramp=steps(at=[1], factors=[4])"};
  Recorder one, two;
  const Ran alone = run_on(
      1, [&](int) { return small_job(folder.path() / "1", ramp); }, one);
  const Ran both = run_on(
      2, [&](int) { return small_job(folder.path() / "2", ramp); }, two);
  ASSERT_EQ(one.steps.size(), 11u + 3u);
  const std::int64_t samples[] = {2, 8, 8, 6}, done[] = {11, 4, 8, 11};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(one.steps[10 + i].samples, samples[i]);
    EXPECT_EQ(one.steps[10 + i].step_in_epoch, done[i]);
  }
  expect_near(alone, both, 2e-5);

  Settings exact = ramp;
  exact.push_back("train.deterministic=true");
  const Ran exact_one = run_on(1, folder.path() / "d1", exact), exact_two = run_on(2, folder.path() / "d2", exact);
  EXPECT_EQ(exact_one.losses, exact_two.losses);
  EXPECT_EQ(exact_one.weights[0], exact_two.weights[1]);
}

// Uneven parts: 2, 3 and 3 samples.
TEST(Ranks, ABatchIsNormalisedOverAllRanksWhereAsked) {
  const TemporaryFolder folder;
  const Settings norm{"data.batch=8", "model=dense_net(norm=true, dropout=0)", "optimizer=sgd(lr=0.05)",
                      "train.sync_batch_norm=true"};
  const Ran one = run_on(1, folder.path() / "1", norm), three = run_on(3, folder.path() / "3", norm);
  expect_near(one, three, 1e-4);
  const Ran apart = run_on(3, folder.path() / "apart",
                           {"data.batch=8", "model=dense_net(norm=true, dropout=0)", "optimizer=sgd(lr=0.05)"});
  EXPECT_GT(std::abs(one.losses.back() - apart.losses.back()), 1e-3);
}

TEST(Ranks, ClippedGradientsAreThoseOfAllRanks) {
  const TemporaryFolder folder;
  const Settings clip{"data.batch=6", "train.clip_norm=0.05", "optimizer=sgd(lr=0.5)"};
  const Ran one = run_on(1, folder.path() / "1", clip), three = run_on(3, folder.path() / "3", clip);
  expect_near(one, three, 2e-5);
  const Ran free = run_on(1, folder.path() / "free", {"data.batch=6", "optimizer=sgd(lr=0.5)"});
  EXPECT_NE(one.losses.back(), free.losses.back());
}

class ResumedOn : public testing::TestWithParam<std::pair<int, int>> {};

TEST_P(ResumedOn, AnotherNumberOfRanksGoesOnWithTheSameBatches) {
  const auto [before, after] = GetParam();
  const TemporaryFolder folder;
  const Ran whole = run_on(1, folder.path() / "whole", {"data.batch=4"});
  const auto job = [&](bool resume) {
    Job made = small_job(folder.path() / "run", {"data.batch=4"});
    made.resume = resume;
    return made;
  };
  Recorder first(7), second;
  Ran stopped = run_on(
      before, [&](int) { return job(false); }, first, [&](int) { return &first.stop; });
  EXPECT_EQ(stopped.last.reason, End::Reason::interrupted);
  Ran ran = run_on(
      after, [&](int) { return job(true); }, second);
  EXPECT_EQ(ran.losses.size() + stopped.losses.size(), whole.losses.size());
  ran.losses.insert(ran.losses.begin(), stopped.losses.begin(), stopped.losses.end());
  ran.epochs.insert(ran.epochs.begin(), stopped.epochs.begin(), stopped.epochs.end());
  expect_near(whole, ran, 2e-5);
  expect_equal_ranks(ran);
}

INSTANTIATE_TEST_SUITE_P(Numbers, ResumedOn,
                         testing::Values(std::pair{1, 2}, std::pair{2, 1}, std::pair{2, 4}, std::pair{3, 2}));

// Updates under way when a run is interrupted are in its checkpoint.
TEST(Ranks, ALaggedRunGoesOnToTheBitOnOneRankAndOnTwo) {
  const TemporaryFolder folder;
  const Settings lagged{"strategy=lagged(k=2)"};
  for (const int ranks : {1, 2}) {
    const std::string name = std::to_string(ranks);
    const Ran whole = run_on(ranks, folder.path() / ("whole" + name), lagged);
    Recorder first(7), second;
    const auto job = [&](bool resume) {
      Job made = small_job(folder.path() / ("parts" + name), lagged);
      made.resume = resume;
      return made;
    };
    Ran parts = run_on(
        ranks, [&](int) { return job(false); }, first, [&](int) { return &first.stop; });
    Ran rest = run_on(
        ranks, [&](int) { return job(true); }, second);
    parts.losses.insert(parts.losses.end(), rest.losses.begin(), rest.losses.end());
    EXPECT_EQ(parts.losses, whole.losses);
    EXPECT_EQ(rest.weights, whole.weights);
    expect_equal_ranks(rest);
  }
  Recorder recorder(7), other;
  run_on(
      1, [&](int) { return small_job(folder.path() / "left", lagged); }, recorder, [&](int) { return &recorder.stop; });
  const auto by_sync = [&](int) {
    Job made = small_job(folder.path() / "left");
    made.resume = true;
    return made;
  };
  EXPECT_HAS(tests::error_of([&] { run_on(2, by_sync, other); }), "resume with the strategy it was made with");
}

TEST(Ranks, ResumingWithAnotherGlobalBatchIsRefused) {
  const TemporaryFolder folder;
  run_on(1, folder.path() / "run", {"data.batch=0", "data.batch_per_rank=4", "train.epochs=1"});
  const auto job = [&](int) {
    Job made = small_job(folder.path() / "run", {"data.batch=0", "data.batch_per_rank=4"});
    made.resume = true;
    return made;
  };
  Recorder recorder;
  EXPECT_HAS(tests::error_of([&] { run_on(2, job, recorder); }), "global batch of 4, this run has 8");
}

// Only rank 1 gets the signal.
TEST(Ranks, OneThatIsAskedToStopStopsAllAtTheSameStep) {
  const TemporaryFolder folder;
  for (const int ranks : {2, 3}) {
    Recorder recorder(6);
    const std::filesystem::path run = folder.path() / std::to_string(ranks);
    const Ran ran = run_on(
        ranks, [&](int) { return small_job(run); }, recorder,
        [&](int rank) { return rank == 1 ? &recorder.stop : nullptr; });
    EXPECT_EQ(ran.last.reason, End::Reason::interrupted);
    EXPECT_GE(ran.last.steps, 6);
    EXPECT_LE(ran.last.steps, 8);
    EXPECT_EQ(recorder.checkpoints, 1);
    EXPECT_EQ(hdf5::Hdf5File::open(newest_in(run)).integer("/", "step"), ran.last.steps);
    expect_equal_ranks(ran);
  }
}

TEST(Ranks, OnlyTheFirstWritesAndTells) {
  const TemporaryFolder folder;
  std::vector<Recorder> recorders(3);
  const auto work = [&](comm::Comm& comm) {
    omp_set_num_threads(1);
    Job job = small_job(folder.path() / "run", {"data.batch=3", "train.epochs=1"});
    if (comm.rank() > 0) job.folder = folder.path() / "elsewhere";  // on another node: nothing may be written there
    Trainer(std::move(job), comm, {&recorders[static_cast<std::size_t>(comm.rank())]}).run();
  };
  comm::run_ranks(3, work, 3);
  EXPECT_EQ(recorders[0].losses.size(), 7u);
  EXPECT_EQ(recorders[0].started.ranks, 3);
  EXPECT_EQ(recorders[0].started.nodes, 1);
  EXPECT_EQ(recorders[0].started.global_batch, 3);
  for (std::size_t rank : {1, 2}) EXPECT_TRUE(recorders[rank].losses.empty() && recorders[rank].checkpoints == 0);
  EXPECT_TRUE(std::filesystem::exists(newest_in(folder.path() / "run")));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "elsewhere"));
}

// Three ranks, one of which differs; nothing is written.
std::string refusal(const std::function<void(Job&)>& change, const char* setting = "seed=5") {
  const TemporaryFolder folder;
  Recorder recorder;
  const auto job = [&](int rank) {
    Job made = small_job(folder.path() / "run", rank == 2 ? Settings{setting} : Settings{});
    if (rank == 2) change(made);
    return made;
  };
  const std::string message = tests::error_of([&] { run_on(3, job, recorder); });
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "run"));
  return message;
}

TEST(Ranks, ADifferenceBetweenThemIsNamedBeforeTheFirstStep) {
  const auto nothing = [](Job&) {};
  EXPECT_EQ(refusal(nothing, "optimizer=adam(lr=0.02)").substr(0, 29), "[rank 2] recipe key 'optimize");
  EXPECT_HAS(refusal(nothing, "train.epochs=4"), "'train.epochs' is 4 here and 3 on rank 0");
  EXPECT_HAS(refusal([](Job& job) { job.resume = true; }), "--resume is given here and not given on rank 0");
  const std::string samples = refusal(
      [](Job& job) { job.train_data = datasets::make_dataset("noise(shape=[6, 6, 2], targets=3, count=21, seed=1)"); });
  EXPECT_HAS(samples, "[rank 2] the number of samples in data.train is 21 here and 22 on rank 0");
  const std::string layer = refusal([](Job& job) { job.model = dense_model("dense_net(hidden=9)", {}); });
  EXPECT_HAS(layer, "[rank 2] layer 'fc1' of the plan");
  EXPECT_HAS(layer, "2x9");
  EXPECT_HAS(layer, "2x8");
}

TEST(Ranks, ALossThatIsNoNumberEndsAllWithOneMessage) {
  const TemporaryFolder folder;
  const std::string message = tests::error_of([&] {
    run_on(3, folder.path() / "run", {"optimizer=sgd(lr=1e30)", "data.batch=3"});
  });
  EXPECT_HAS(message, "(epoch 1): the ");
  EXPECT_EQ(message.find("[rank", 1), std::string::npos);
}

TEST(Ranks, AFolderThatCannotBeMadeEndsAll) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "file") << "x";
  EXPECT_HAS(tests::error_of([&] { run_on(2, folder.path() / "file" / "run", {}); }), "[rank 0] run folder");
}

}  // namespace
}  // namespace isobar::train
