// A run with one call: from the text of a recipe to its folder, without a terminal.
#include "isobar/run/training.hpp"

#include <gtest/gtest.h>

#include "isobar/base/config.hpp"
#include "isobar/comm/local_comm.hpp"
#include "isobar/run/core_share.hpp"
#include "isobar/run/look_around.hpp"
#include "isobar/run/models.hpp"
#include "isobar/run/post_mortem_sink.hpp"
#include "isobar/run/run_sinks.hpp"

#include "tests/expect_error.hpp"
#include "tests/temporary_folder.hpp"

namespace isobar::run {
namespace {

using namespace isobar::tests;

Spec lenet_in(const std::filesystem::path& folder) {
  Spec recipe = parse_recipe(R"toml(
model = "lenet"
optimizer = "sgd(lr=0.01)"
[data]
train = "noise(shape=[28, 28, 1], targets=1, count=8, seed=1)"
test = "noise(shape=[28, 28, 1], targets=1, count=4, seed=2)"
batch = 4
transforms = ["scale(by=0, field=y)"]
[train]
epochs = 2
[report]
pictures = false
)toml",
                             "test");
  apply_setting(recipe, "folder=\"" + folder.string() + "\"");
  return recipe;
}

TEST(Training, TakesARecipeToItsEndAndShowsNothing) {
  const TemporaryFolder folder;
  testing::internal::CaptureStdout();
  const Outcome outcome = train_alone(lenet_in(folder.path() / "run"), "test", {.threads = 1});
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(outcome.reason, train::End::Reason::finished);
  EXPECT_TRUE(outcome.first);
  EXPECT_FALSE(outcome.interrupted);
  EXPECT_TRUE(outcome.evaluated.results.contains("loss"));
  for (const char* file : {"recipe.toml", "metrics.jsonl", "metrics.csv", "run.json", "report.html"})
    EXPECT_TRUE(std::filesystem::exists(folder.path() / "run" / file)) << file;
}

TEST(Training, StopsWhenToldAndGoesOnLater) {
  const TemporaryFolder folder;
  const Spec recipe = lenet_in(folder.path() / "run");
  std::atomic<bool> stop = true;
  const auto alone = comm::alone();
  const Outcome stopped =
      Training(recipe, "test", {.threads = 1}, *alone).run(*alone, *comm::fixed_crew(*alone), {.stop = &stop});
  EXPECT_EQ(stopped.reason, train::End::Reason::interrupted);
  EXPECT_TRUE(stopped.interrupted);
  EXPECT_THROW(train_alone(recipe, "test", {.threads = 1}), Error) << "the folder holds a run";
  EXPECT_EQ(train_alone(recipe, "test", {.resume = true, .threads = 1}).reason, train::End::Reason::finished);
}

TEST(Training, ACheckTellsTheSizeAndWritesNothing) {
  const TemporaryFolder folder;
  const Outcome outcome = train_alone(lenet_in(folder.path() / "run"), "test", {.check = true, .threads = 1});
  EXPECT_HAS(outcome.summary, "parameters");
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "run"));
}

TEST(Training, AMistakeInTheRecipeIsAnErrorOfTheConstructor) {
  const TemporaryFolder folder;
  Spec recipe = lenet_in(folder.path() / "run");
  apply_setting(recipe, "model=lenett");
  EXPECT_HAS(error_of([&] { Training(recipe, "test", {}, *comm::alone()); }), "lenet");
  EXPECT_HAS(error_of([&] { Training(parse_recipe("seed = 1", "test"), "test", {}, *comm::alone()); }), "'model'");
}

TEST(RunSinks, WithoutAScreenNoneShowsProgress) {
  const TemporaryFolder folder;
  const train::Job job = read_job(lenet_in(folder.path() / "run"), "test");
  EXPECT_EQ(make_sinks(job, {}).size() + 1, make_sinks(job, {.screen = stdout}).size());
  EXPECT_TRUE(post_mortem_sink()->on_every_rank());
}

TEST(LookAround, TellsRankZeroOfTheMachine) {
  comm::run_ranks(2, [](comm::Comm& comm) {
    const record::Surroundings around = look_around(comm, 1);
    EXPECT_GT(around.peaks.flops_per_second, 0);
    EXPECT_EQ(around.machine.empty(), comm.rank() != 0);
  });
  EXPECT_EQ(shell_line({"a", "b c", "it's"}), "a 'b c' 'it'\\''s'");
}

TEST(CoreShare, OneRankAloneKeepsAllCores) {
  const CoreShare share(*comm::alone(), 0);
  EXPECT_EQ(share.text(), "");
}

}  // namespace
}  // namespace isobar::run
