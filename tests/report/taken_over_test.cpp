// A rank takes over from a dead rank 0: the files of the run become those of a run without a death, whether the dead
// rank had written steps that no other rank finished, or had not yet written steps that all finished.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "isobar/disk/late_file.hpp"
#include "isobar/disk/text_file.hpp"
#include "isobar/record/sinks.hpp"
#include "isobar/report/curves.hpp"
#include "isobar/report/ledger.hpp"
#include "isobar/train/recent.hpp"

#include "tests/capture.hpp"

namespace isobar::report {
namespace {

using namespace isobar::tests;
namespace fs = std::filesystem;

constexpr std::int64_t steps_per_epoch = 3;

train::StepDone step_done(std::int64_t step) {
  return {.step = step, .epoch = (step - 1) / steps_per_epoch + 1, .loss = 1.0 / static_cast<double>(step)};
}

train::EpochDone epoch_done(std::int64_t epoch) {
  return {.epoch = epoch, .step = epoch * steps_per_epoch, .train_loss = 0.5, .test = {{"mae", 0.25}}};
}

struct Place {
  std::int64_t step, epoch;
};

// The events after one position up to another.
void go_on(train::Sink& sink, train::Recent& recent, const Place& from, const Place& to) {
  for (std::int64_t step = from.step; step <= to.step; ++step) {
    if (step > from.step) sink.step(step_done(step)), recent.add(step_done(step));
    const std::int64_t epoch = step / steps_per_epoch;
    if (step % steps_per_epoch != 0 || epoch <= from.epoch || epoch > to.epoch) continue;
    sink.epoch(epoch_done(epoch));
    recent.add(epoch_done(epoch));
  }
}

train::Start start_in(const fs::path& folder) {
  train::Start start;
  start.folder = folder;
  start.ranks = 3;
  start.global_batch = 8;
  return start;
}

train::Start changed_in(const fs::path& folder, const Place& at) {
  train::Start start = start_in(folder);
  start.first_step = at.step;
  start.first_epoch = at.epoch;
  start.ranks = 2;
  start.changes = {train::change_of({0, 1, 2}, {1, 2})};
  start.changes[0].step = at.step;
  return start;
}

using MakeSink = std::unique_ptr<train::Sink> (*)();
const std::pair<const char*, MakeSink> line_files[] = {{"metrics.jsonl", [] { return record::json_lines(); }},
                                                       {"metrics.csv", [] { return record::metrics_csv(); }}};

constexpr Place last{7, 2};

std::string text_without_death(const fs::path& folder, const char* file, MakeSink make) {
  fs::create_directories(folder);
  train::Recent recent;
  const auto sink = make();
  sink->start(start_in(folder));
  go_on(*sink, recent, {0, 0}, last);
  sink->end({});
  return text_of(folder / file);
}

// The dead rank had sent its sink more steps than the others finished, and only some of these bytes had reached the
// disk.
TEST(TakenOver, LinesAreThoseOfARunWithoutADeath) {
  const TemporaryFolder folder;
  for (const auto& [file, make] : line_files) {
    const std::string wanted = text_without_death(folder / "whole", file, make);
    for (const Place dead : {Place{2, 0}, Place{3, 0}, Place{3, 1}, Place{5, 1}})
      for (const Place left : {Place{0, 0}, Place{2, 0}, Place{3, 0}, Place{3, 1}, Place{4, 1}})
        for (int lost = 0; lost < 200; lost += 23) {
          if (left.step > dead.step + 1) continue;
          SCOPED_TRACE(fmt::format("{}: dead at {}/{}, others at {}/{}, {} bytes lost", file, dead.step, dead.epoch,
                                   left.step, left.epoch, lost));
          const fs::path run = folder / "run";
          fs::remove_all(run);
          fs::create_directories(run);
          train::Recent recent, unused;
          {
            const auto sink = make();
            sink->start(start_in(run));
            go_on(*sink, unused, {0, 0}, dead);
          }
          const auto size = static_cast<std::intmax_t>(fs::file_size(run / file));
          fs::resize_file(run / file, static_cast<std::uintmax_t>(std::max<std::intmax_t>(0, size - lost)));
          train::Sink nobody;
          go_on(nobody, recent, {0, 0}, left);

          const auto sink = make();
          const train::Start start = changed_in(run, left);
          sink->start(start);
          recent.tell(*sink, sink->reached(start));
          go_on(*sink, recent, left, last);
          sink->end({});
          ASSERT_EQ(text_of(run / file), wanted);
        }
  }
}

TEST(TakenOver, TimesOfEveryStepAreThereOnceAndTheChangeIsNoStart) {
  const TemporaryFolder folder;
  train::Recent recent;
  {
    const auto sink = record::json_lines();
    sink->start(start_in(folder.path()));
    go_on(*sink, recent, {0, 0}, {4, 1});
  }
  const auto sink = record::json_lines();
  const train::Start start = changed_in(folder.path(), {4, 1});
  sink->start(start);
  recent.tell(*sink, sink->reached(start));
  go_on(*sink, recent, {4, 1}, last);
  sink->end({});
  const Ledger ledger = read_ledger(folder.path());
  EXPECT_EQ(ledger.steps, 7);
  ASSERT_EQ(ledger.setups.size(), 2u);
  EXPECT_EQ(ledger.setups[1].ranks, 2);
  int starts = 0, changes = 0;
  for (const auto& line : record::read_json_lines(folder / "timing.jsonl")) {
    starts += line.at("kind") == "start";
    changes += line.at("kind") == "members" && line.at("change").at("left") == std::vector{0};
  }
  EXPECT_EQ(starts, 1);
  EXPECT_EQ(changes, 1);
}

TEST(TakenOver, TheDescriptionOfTheRunStaysAndCountsTheChanges) {
  const TemporaryFolder folder;
  record::run_facts({.command = "isobar train a"})->start(start_in(folder.path()));
  record::run_facts({})->start(changed_in(folder.path(), {4, 1}));
  disk::write_text(folder / "recipe.toml", "model = \"a\"\n");
  const record::RunRecord run = record::read_run(folder.path());
  EXPECT_EQ(run.command, "isobar train a");
  EXPECT_EQ(run.ranks, 2);
  ASSERT_EQ(run.changes.size(), 1u);
  EXPECT_EQ(run.changes[0].str(), "rank 0 left; 2 ranks go on after step 4");
}

TEST(TakenOver, CurvesShowAllEpochs) {
  const TemporaryFolder folder;
  train::Recent recent;
  {
    const auto lines = record::json_lines();
    lines->start(start_in(folder.path()));
    go_on(*lines, recent, {0, 0}, {2, 0});
  }
  train::Sink nobody;
  go_on(nobody, recent, {2, 0}, {7, 2});  // of these nothing was written
  const auto sink = curves();
  const train::Start start = changed_in(folder.path(), {7, 2});
  sink->start(start);
  EXPECT_EQ(sink->reached(start).epoch, 0);
  recent.tell(*sink, sink->reached(start));
  disk::flush_late_files();
  EXPECT_TRUE(fs::exists(folder / "curves.svg"));
}

}  // namespace
}  // namespace isobar::report
