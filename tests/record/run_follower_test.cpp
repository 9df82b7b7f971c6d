// A run is replayed from its growing files with the events that its own sinks received, each once.
#include "isobar/record/run_follower.hpp"

#include <gtest/gtest.h>

#include "isobar/disk/text_file.hpp"
#include "isobar/record/json_member.hpp"
#include "isobar/record/sinks.hpp"

#include "tests/capture.hpp"

namespace isobar::record {
namespace {

using namespace isobar::tests;
namespace fs = std::filesystem;
using Change = RunFollower::Change;

// The events received, one word each.
struct Listener final : train::Sink {
  void start(const train::Start& start) override {
    begun = start;
    told += fmt::format("start:{} ", start.first_step);
  }
  void step(const train::StepDone& step) override {
    last = step;
    told += fmt::format("{} ", step.step);
  }
  void epoch(const train::EpochDone& epoch) override {
    evaluated = epoch;
    told += fmt::format("epoch:{} ", epoch.epoch);
  }
  void checkpoint(const train::CheckpointDone& done) override { told += fmt::format("checkpoint:{} ", done.step); }
  void end(const train::End& end) override {
    ended = end;
    told += "end ";
  }
  std::string take() { return std::exchange(told, ""); }

  train::Start begun;
  train::StepDone last;
  train::EpochDone evaluated;
  train::End ended;
  std::string told;
};

void write_recipe_file(const fs::path& folder) {
  disk::write_text(folder / "recipe.toml", "model = \"cosmoflow(size=32)\"\n[train]\nepochs = 4\n");
}

// A run with steps of two seconds that writes every line; three steps make an epoch.
struct WrittenRun {
  explicit WrittenRun(const fs::path& folder, std::int64_t first = 0) : sink(json_lines()) {
    write_recipe_file(folder);
    train::Start start;
    start.folder = folder;
    start.first_step = first;
    start.parameters = 1000;
    start.flops_per_sample = 5e8;
    start.threads = 2;
    start.ranks = 3;
    sink->start(start);
  }
  void step(std::int64_t number) {
    sink->step({number, (number - 1) / 3 + 1, (number - 1) % 3 + 1, 4, 1.0 / static_cast<double>(number), 1e-3, seconds,
                0.5, 0.25, 99});
    if (number % 3 == 0) sink->epoch({number / 3, number, 0.5, {{"loss", 0.5}, {"mae", 0.125}}, 6, 1});
    disk::flush_late_files();
  }
  double seconds = 2;
  std::unique_ptr<train::Sink> sink;
};

TEST(RunFollower, TellsWhatIsNewOnce) {
  const TemporaryFolder folder;
  RunFollower follower(folder.path());
  Listener listener;
  EXPECT_EQ(follower.poll(listener), Change::none);
  EXPECT_FALSE(follower.last_written());
  WrittenRun run(folder.path());
  run.step(1);
  EXPECT_EQ(follower.poll(listener), Change::more);
  EXPECT_EQ(listener.take(), "start:0 1 ");
  EXPECT_EQ(follower.poll(listener), Change::none);
  for (std::int64_t step = 2; step <= 4; ++step) run.step(step);
  run.sink->checkpoint({folder / "step_000004.h5", 4, 5e6, 0.5});
  disk::flush_late_files();
  EXPECT_EQ(follower.poll(listener), Change::more);
  EXPECT_EQ(listener.take(), "2 3 epoch:1 4 checkpoint:4 ");
  run.sink->end({train::End::Reason::finished, 4, 9.5, {{"mae", 0.25}}});
  EXPECT_EQ(follower.poll(listener), Change::more);
  EXPECT_EQ(listener.take(), "end ");
  EXPECT_EQ(listener.ended.seconds, 9.5);
  EXPECT_EQ(listener.ended.test.at("mae"), 0.25);
  EXPECT_EQ(listener.ended.reason, train::End::Reason::finished);
  EXPECT_TRUE(follower.last_written());
}

TEST(RunFollower, EventsHoldWhatTheRunTold) {
  const TemporaryFolder folder;
  WrittenRun run(folder.path());
  disk::write_text(folder / "run.json", R"({"epochs": 4, "steps_per_epoch": 3, "train_samples": 12, "test_samples": 5,
    "peaks": {"flops_per_second": 4e11, "bytes_per_second": 2e10, "how": "measured"}})");
  for (std::int64_t step = 1; step <= 5; ++step) run.step(step);
  RunFollower follower(folder.path());
  Listener listener;
  follower.poll(listener);
  EXPECT_EQ(listener.begun.parameters, 1000);
  EXPECT_EQ(listener.begun.flops_per_sample, 5e8);
  EXPECT_EQ(listener.begun.ranks, 3);
  EXPECT_EQ(listener.begun.threads, 2);
  EXPECT_EQ(listener.begun.epochs, 4);
  EXPECT_EQ(listener.begun.steps_per_epoch, 3);
  EXPECT_EQ(listener.begun.train_samples, 12);
  EXPECT_EQ(listener.begun.test_samples, 5);
  EXPECT_EQ(follower.facts().peaks.flops_per_second, 4e11);
  EXPECT_EQ(follower.facts().model(), "cosmoflow(size=32)");
  EXPECT_EQ(listener.last.step, 5);
  EXPECT_EQ(listener.last.epoch, 2);
  EXPECT_EQ(listener.last.step_in_epoch, 2);
  EXPECT_EQ(listener.last.samples, 4);
  EXPECT_EQ(listener.last.loss, 0.2);
  EXPECT_EQ(listener.last.learning_rate, 1e-3);
  EXPECT_EQ(listener.last.seconds, 2);
  EXPECT_EQ(listener.last.wait_seconds, 0.5);
  EXPECT_EQ(listener.last.exchange_seconds, 0.25);
  EXPECT_EQ(listener.last.bytes_sent, 99);
  EXPECT_EQ(listener.evaluated.epoch, 1);
  EXPECT_EQ(listener.evaluated.test.at("mae"), 0.125);
  EXPECT_EQ(listener.evaluated.train_seconds, 6);
  EXPECT_EQ(listener.evaluated.test_seconds, 1);
}

TEST(RunFollower, WithoutADescriptionTheRecipeTellsTheEpochs) {
  const TemporaryFolder folder;
  WrittenRun run(folder.path());
  run.step(1);
  RunFollower follower(folder.path());
  Listener listener;
  follower.poll(listener);
  EXPECT_EQ(listener.begun.epochs, 4);
  EXPECT_EQ(listener.begun.parameters, 1000);
}

// The two files reach the system at different moments.
TEST(RunFollower, AStepIsToldOnceBothFilesHaveIt) {
  const TemporaryFolder folder;
  WrittenRun run(folder.path());
  run.step(1);
  const std::string metrics = text_of(folder / "metrics.jsonl"), timing = text_of(folder / "timing.jsonl");
  disk::write_text(folder / "metrics.jsonl", "");
  RunFollower follower(folder.path());
  Listener listener;
  follower.poll(listener);
  EXPECT_EQ(listener.take(), "start:0 ");
  disk::write_text(folder / "metrics.jsonl", metrics.substr(0, 20));
  follower.poll(listener);
  EXPECT_EQ(listener.take(), "");
  disk::write_text(folder / "metrics.jsonl", metrics);
  follower.poll(listener);
  EXPECT_EQ(listener.take(), "1 ");
}

TEST(RunFollower, AResumedRunIsToldAgain) {
  const TemporaryFolder folder;
  RunFollower follower(folder.path());
  Listener listener;
  {
    WrittenRun run(folder.path());
    for (std::int64_t step = 1; step <= 5; ++step) run.step(step);
    follower.poll(listener);
    run.sink->end({train::End::Reason::interrupted, 5, 9.5, {}});
    follower.poll(listener);
    EXPECT_EQ(listener.take(), "start:0 1 2 3 epoch:1 4 5 end ");
  }
  WrittenRun run(folder.path(), 4);
  run.seconds = 3;
  run.step(5);
  run.step(6);
  run.step(7);  // longer than before
  EXPECT_EQ(follower.poll(listener), Change::cut);
  EXPECT_EQ(listener.take(), "");
  EXPECT_EQ(follower.poll(listener), Change::more);
  EXPECT_EQ(listener.take(), "start:0 1 2 3 epoch:1 4 start:4 5 6 epoch:2 7 ");
  EXPECT_EQ(listener.last.seconds, 3);
}

TEST(RunFollower, ARunThatIsOverwrittenIsToldAnew) {
  const TemporaryFolder folder;
  RunFollower follower(folder.path());
  Listener listener;
  {
    WrittenRun run(folder.path());
    for (std::int64_t step = 1; step <= 2; ++step) run.step(step);
    follower.poll(listener);
    EXPECT_EQ(listener.take(), "start:0 1 2 ");
  }
  fs::remove(folder / "metrics.jsonl");
  fs::remove(folder / "timing.jsonl");
  EXPECT_EQ(follower.poll(listener), Change::anew);
  EXPECT_EQ(follower.poll(listener), Change::none);
  WrittenRun run(folder.path());
  run.seconds = 4;
  run.step(1);
  EXPECT_EQ(follower.poll(listener), Change::more);
  EXPECT_EQ(listener.take(), "start:0 1 ");
  // Without a poll in between: the figures may be the same, but the times are not.
  WrittenRun other(folder.path());
  other.seconds = 5;
  for (std::int64_t step = 1; step <= 3; ++step) other.step(step);
  EXPECT_EQ(follower.poll(listener), Change::anew);
  EXPECT_EQ(follower.poll(listener), Change::more);
  EXPECT_EQ(listener.take(), "start:0 1 2 3 epoch:1 ");
}

TEST(RunFollower, DamageEndsWhatIsToldWithoutHarm) {
  const TemporaryFolder folder;
  WrittenRun run(folder.path());
  run.step(1);
  const std::string timing = text_of(folder / "timing.jsonl");
  run.step(2);
  const std::string metrics = text_of(folder / "metrics.jsonl");
  disk::write_text(folder / "timing.jsonl", timing + "garbage\n" + R"({"kind":"step","step":2})" + "\n");
  disk::write_text(folder / "metrics.jsonl", metrics + R"({"kind":"step","step":1e300,"epoch":-1})" + "\n[1,2]\n");
  RunFollower follower(folder.path());
  Listener listener;
  EXPECT_EQ(follower.poll(listener), Change::more);
  EXPECT_EQ(listener.take(), "start:0 1 ");
  EXPECT_EQ(follower.poll(listener), Change::none);
}

TEST(RunFollower, LinesWithoutAPartnerAreLeftOut) {
  const TemporaryFolder folder;
  write_recipe_file(folder.path());
  disk::write_text(folder / "timing.jsonl", R"({"kind":"start","step":0})"
                                            "\n"
                                            R"({"kind":"step","step":2,"seconds":1})"
                                            "\n");
  disk::write_text(folder / "metrics.jsonl", R"({"kind":"step","step":1,"loss":1})"
                                             "\n"
                                             R"({"kind":"step","step":2,"loss":1})"
                                             "\n");
  RunFollower follower(folder.path());
  Listener listener;
  follower.poll(listener);
  EXPECT_EQ(listener.take(), "start:0 2 ");
}

TEST(JsonMember, IsADefaultWhereItDoesNotFit) {
  const auto object = nlohmann::json::parse(
      R"({"a": 3, "b": 2.5, "c": "x", "d": 1e300, "e": -1, "f": 18446744073709551615, "g": {"x": 1, "y": "z"}})");
  EXPECT_EQ(member<std::int64_t>(object, "a"), 3);
  EXPECT_EQ(member<double>(object, "a"), 3.0);
  EXPECT_EQ(member<std::int64_t>(object, "b"), 2);
  EXPECT_EQ(member<std::string>(object, "c"), "x");
  EXPECT_EQ(member<std::string>(object, "a", "none"), "none");
  EXPECT_EQ(member<std::int64_t>(object, "c", 7), 7);
  EXPECT_EQ(member<std::int64_t>(object, "d", 7), 7);
  EXPECT_EQ(member<std::size_t>(object, "e", 7), 7u);
  EXPECT_EQ(member<std::int64_t>(object, "f", 7), 7);
  EXPECT_EQ(member<int>(object, "none", 7), 7);
  EXPECT_EQ(member<int>(nlohmann::json::array(), "a", 7), 7);
  EXPECT_EQ(member_numbers(object, "g"), (std::map<std::string, double>{{"x", 1}}));
  EXPECT_TRUE(member_numbers(object, "a").empty());
  EXPECT_TRUE(member_numbers(nlohmann::json(), "a").empty());
}

}  // namespace
}  // namespace isobar::record
