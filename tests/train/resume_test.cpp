// A run that was stopped, killed or damaged and then continues equals an undisturbed run: to the last bit on the same
// number of ranks, with the same samples on other numbers.
#include <fstream>

#include <gtest/gtest.h>

#include "isobar/disk/disk_warnings.hpp"
#include "isobar/hdf5/hdf5_file.hpp"

#include "tests/expect_error.hpp"
#include "tests/train/recorder.hpp"

namespace isobar::train {
namespace {

using Settings = std::vector<const char*>;
namespace fs = std::filesystem;

JobMaker job_in(const fs::path& folder, const Settings& settings, bool resume = false) {
  return [=](int) {
    Job job = small_job(folder, settings);
    job.resume = resume;
    return job;
  };
}

// Makes a run end at a step as if it had died.
class Dying final : public Sink {
 public:
  explicit Dying(std::int64_t step) : step_(step) {}
  void step(const StepDone& done) override {
    losses.push_back(done.loss);
    if (done.step == step_) throw Error("killed");
  }
  std::vector<double> losses;

 private:
  std::int64_t step_;
};

struct Kind {
  std::string name;
  int ranks;
  Settings settings;
};
void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }

class Resume : public testing::TestWithParam<Kind> {
 protected:
  void expect_same(const Ran& ran, const Ran& whole) {
    EXPECT_EQ(ran.weights, whole.weights);
    EXPECT_EQ(ran.predictions, whole.predictions);
    ASSERT_FALSE(ran.epochs.empty());
    EXPECT_EQ(ran.epochs.back().train_loss, whole.epochs.back().train_loss);
    EXPECT_EQ(ran.last.test, whole.last.test);
  }
  const TemporaryFolder folder_;
};

// 5 steps an epoch, 3 epochs: stopped within epochs, at their ends and in the evaluation between them.
TEST_P(Resume, StoppedAtAnyStepItEndsTheSame) {
  const Ran whole = run_on(GetParam().ranks, folder_.path() / "whole", GetParam().settings);
  for (std::int64_t stop = 1; stop < 15; stop += GetParam().ranks == 1 ? 1 : 3) {
    const fs::path parts = folder_.path() / fmt::format("parts{}", stop);
    Recorder first(stop), second;
    run_on(GetParam().ranks, job_in(parts, GetParam().settings), first, [&](int) { return &first.stop; });
    const Ran rest = run_on(GetParam().ranks, job_in(parts, GetParam().settings, true), second);
    std::vector<double> losses = first.losses;
    losses.insert(losses.end(), rest.losses.begin(), rest.losses.end());
    EXPECT_EQ(losses, whole.losses) << "stopped after step " << stop;
    expect_same(rest, whole);
  }
}

TEST_P(Resume, SavingAllTheTimeChangesNothing) {
  const Ran whole = run_on(GetParam().ranks, folder_.path() / "whole", GetParam().settings);
  Settings saving = GetParam().settings;
  saving.insert(saving.end(), {"checkpoint.every_steps=1", "checkpoint.every_epochs=1", "checkpoint.best=loss",
                               "checkpoint.background=false", "checkpoint.keep=100"});
  const Ran ran = run_on(GetParam().ranks, folder_.path() / "saving", saving);
  EXPECT_EQ(ran.losses, whole.losses);
  expect_same(ran, whole);
  EXPECT_EQ(checkpoint::CheckpointShelf(folder_.path() / "saving").list().size(), 15u);

  // From every one of them the run continues to the same end.
  for (const auto& item : checkpoint::CheckpointShelf(folder_.path() / "saving").list()) {
    if (GetParam().ranks > 1 && item.step % 4 != 2) continue;
    const fs::path again = folder_.path() / fmt::format("again{}", item.step);
    fs::create_directories(again / "checkpoints");
    fs::copy(item.file, again / "checkpoints");
    Recorder recorder;
    const Ran rest = run_on(GetParam().ranks, job_in(again, GetParam().settings, true), recorder);
    const auto done = static_cast<std::ptrdiff_t>(item.step);
    EXPECT_EQ(rest.losses, std::vector<double>(whole.losses.begin() + done, whole.losses.end())) << item.step;
    EXPECT_EQ(rest.weights, whole.weights) << item.step;
  }
}

TEST_P(Resume, KilledItGoesOnFromItsNewestCheckpoint) {
  const Ran whole = run_on(GetParam().ranks, folder_.path() / "whole", GetParam().settings);
  Settings saving = GetParam().settings;
  saving.insert(saving.end(), {"checkpoint.every_steps=2", "checkpoint.background=false"});
  for (const std::int64_t at : {3, 8, 12}) {
    const fs::path run = folder_.path() / fmt::format("killed{}", at);
    Dying dying(at);
    EXPECT_THROW(comm::run_ranks(
                     GetParam().ranks,
                     [&](comm::Comm& comm) {
                       omp_set_num_threads(1);
                       Trainer(job_in(run, saving)(0), comm, {&dying}).run();
                     },
                     GetParam().ranks),
                 Error);
    Recorder recorder;
    const Ran rest = run_on(GetParam().ranks, job_in(run, saving, true), recorder);
    const std::int64_t first = recorder.started.first_step;
    EXPECT_LT(first, at + 1);
    EXPECT_GE(first, at - 3) << "no more is lost than lies between two checkpoints";
    EXPECT_EQ(rest.losses, std::vector<double>(whole.losses.begin() + first, whole.losses.end()));
    expect_same(rest, whole);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, Resume,
    testing::Values(
        Kind{"alone", 1, {"model=dense_net(norm=true)"}},
        Kind{"two_with_statistics", 2, {"model=dense_net(norm=true)"}},
        Kind{"three_with_statistics", 3, {"model=dense_net(norm=true)", "data.batch=3", "data.train.count=15"}},
        Kind{"lagged", 2, {"strategy=lagged(k=2)", "model=dense_net(norm=true)"}},
        Kind{"in_bf16", 2, {"strategy=sync(wire=bf16)", "model=dense_net(norm=true)"}},
        Kind{"sparse_alone", 1, {"strategy=sync(codec=topk(share=0.05, least=1))"}},
        Kind{"sparse", 2, {"strategy=sync(codec=topk(share=0.05, least=1))", "model=dense_net(norm=true)"}},
        Kind{"sparse_and_lagged", 2, {"strategy=lagged(codec=topk(share=0.05, least=1))"}}),
    [](const auto& kind) { return kind.param.name; });

TEST(ResumeElsewhere, OnOneTwoAndFourRanksTheBitsAreTheSame) {
  const TemporaryFolder folder;
  const Settings settings{"data.batch=8", "model=dense_net(norm=true)", "train.deterministic=true",
                          "train.micro_batches=4", "data.train.count=24"};
  const Ran whole = run_on(1, folder.path() / "whole", settings);
  for (const auto& [from, to] : {std::pair{1, 2}, {2, 4}, {4, 1}, {2, 1}, {1, 4}}) {
    const fs::path run = folder.path() / fmt::format("{}to{}", from, to);
    Recorder first(4), second;
    run_on(from, job_in(run, settings), first, [&](int) { return &first.stop; });
    const Ran rest = run_on(to, job_in(run, settings, true), second);
    std::vector<double> losses = first.losses;
    losses.insert(losses.end(), rest.losses.begin(), rest.losses.end());
    EXPECT_EQ(losses, whole.losses) << from << " to " << to;
    for (const auto& weights : rest.weights) EXPECT_EQ(weights, whole.weights[0]);
  }
}

TEST(ResumeElsewhere, DamagedCheckpointsArePassedOverAndNamed) {
  const TemporaryFolder folder;
  const fs::path run = folder.path() / "run";
  const Settings settings{"checkpoint.every_steps=2", "checkpoint.keep=10", "checkpoint.background=false"};
  const Ran whole = run_on(1, run, settings);
  const checkpoint::CheckpointShelf shelf(run);
  fs::resize_file(shelf.file_of(15), fs::file_size(shelf.file_of(15)) / 2);
  std::fstream(shelf.file_of(14), std::ios::in | std::ios::out | std::ios::binary).seekp(-9, std::ios::end).put('#');
  testing::internal::CaptureStderr();
  Recorder recorder;
  const Ran rest = run_on(1, job_in(run, settings, true), recorder);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(recorder.started.first_step, 12);
  EXPECT_HAS(said, "not taken");
  EXPECT_HAS(said, "step_000015.h5': has");
  EXPECT_HAS(said, "step_000014.h5");
  EXPECT_HAS(said, "continues from");
  EXPECT_EQ(rest.weights, whole.weights);
  for (const auto& item : shelf.list()) checkpoint::CheckpointFile(item.file).verify();
}

TEST(ResumeElsewhere, ARunWithAnotherSeedOrWithoutCheckpointsIsRefused) {
  const TemporaryFolder folder;
  Recorder recorder;
  run_on(1, folder.path() / "run", {"train.epochs=1"});
  EXPECT_HAS(tests::error_of([&] { run_on(1, job_in(folder.path() / "run", {"seed=6"}, true), recorder); }), "seed 5");
  EXPECT_HAS(tests::error_of([&] { run_on(1, job_in(folder.path() / "none", {}, true), recorder); }),
             "no checkpoint to resume from");
  fs::resize_file(newest_in(folder.path() / "run"), 100);
  EXPECT_HAS(tests::error_of([&] { run_on(1, job_in(folder.path() / "run", {}, true), recorder); }),
             "no intact checkpoint");
}

// Restarted by the same launcher, a run continues without being asked to, or begins again.
TEST(Relaunched, GoesOnOrBeginsAgain) {
  const TemporaryFolder folder;
  const fs::path run = folder.path() / "run";
  const Settings settings{"checkpoint.every_steps=4", "checkpoint.background=false"};
  const Ran whole = run_on(1, folder.path() / "whole", settings);
  const auto start = [&](const std::string& launch, Sink& sink) {
    Job job = small_job(run, settings);
    job.launch = launch;
    Trainer trainer(std::move(job), {&sink});
    trainer.run();
    return plain_weights(trainer.store());
  };
  Dying early(2), late(7);
  EXPECT_THROW(start("a", early), Error);
  EXPECT_THROW(start("a", late), Error);  // there was no checkpoint yet
  EXPECT_EQ(late.losses.size(), 7u);
  Recorder recorder;
  EXPECT_HAS(tests::error_of([&] { start("b", recorder); }), "already holds a run");
  EXPECT_HAS(tests::error_of([&] { start("", recorder); }), "already holds a run");
  EXPECT_EQ(start("a", recorder), whole.weights[0]);
  EXPECT_EQ(recorder.started.first_step, 4);
}

TEST(FullDisk, TheRunGoesOnAndOnlyTheLastCheckpointDecides) {
  const TemporaryFolder folder;
  for (const bool to_the_end : {false, true}) {
    const fs::path run = folder.path() / (to_the_end ? "full" : "freed");
    const auto make = [&](int) {
      Job job = small_job(run, {"checkpoint.every_steps=1", "checkpoint.background=false"});
      job.write_checkpoint = [to_the_end](const fs::path& file, const checkpoint::Snapshot& snapshot) {
        const std::int64_t step = snapshot.position.step;
        if (step > 6 && (to_the_end || step < 12)) throw disk::DiskError(file, "No space left");
        return checkpoint::write_checkpoint(file, snapshot);
      };
      return job;
    };
    Recorder recorder;
    testing::internal::CaptureStderr();
    std::string problem;
    try {
      run_on(1, make, recorder);
    } catch (const Error& error) {
      problem = error.what();
    }
    disk::disk_warnings().conclude();
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_EQ(recorder.losses.size(), 15u);
    EXPECT_EQ(recorder.last.steps, 15) << "all who listen were told of the end";
    EXPECT_HAS(said, "checkpoints cannot be written: No space left; the run goes on, and tries again");
    EXPECT_EQ(said.find("tries again"), said.rfind("tries again")) << "said once: " << said;
    const checkpoint::CheckpointShelf::Found found = checkpoint::CheckpointShelf(run).newest_intact();
    ASSERT_TRUE(found.file);
    EXPECT_EQ(found.file->position().step, to_the_end ? 6 : 15);
    if (to_the_end) EXPECT_HAS(problem, "No space left");
    else EXPECT_EQ(problem, "");
  }
}

}  // namespace
}  // namespace isobar::train
