// metrics.csv: one table with a row for every step and epoch, even if figures come later or the run is resumed.
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "isobar/base/error.hpp"
#include "isobar/record/sinks.hpp"

#include "tests/capture.hpp"

namespace isobar::record {
namespace {

using namespace isobar::tests;
constexpr const char* fixed =
    "kind,step,epoch,loss,learning_rate,samples,seconds,wait_seconds,exchange_seconds,bytes_sent,test_seconds";

void begin(train::Sink& sink, const std::filesystem::path& folder, std::int64_t first) {
  train::Start start;
  start.folder = folder;
  start.first_step = first;
  sink.start(start);
}

// Two steps make an epoch.
void steps(train::Sink& sink, std::int64_t first, std::int64_t last, std::map<std::string, double> test) {
  for (std::int64_t step = first; step <= last; ++step) {
    sink.step({step, (step + 1) / 2, 2 - step % 2, 4, 0.5 / static_cast<double>(step), 1e-3, 0.25, 0.125, 0, 7});
    if (step % 2 == 0) sink.epoch({step / 2, step, 0.375, test, 0.5, 0.0625});
  }
}

std::vector<std::string> rows_of(const std::filesystem::path& file) {
  std::istringstream in(text_of(file));
  std::vector<std::string> rows;
  for (std::string row; std::getline(in, row);) rows.push_back(row);
  return rows;
}

TEST(MetricsCsv, HasARowForEveryStepAndEpoch) {
  const TemporaryFolder folder;
  const auto sink = metrics_csv();
  begin(*sink, folder.path(), 0);
  steps(*sink, 1, 3, {{"loss", 0.5}, {"mae", 0.25}, {"confusion.a.b", 3}});
  sink->end({});
  EXPECT_EQ(
      rows_of(folder / "metrics.csv"),
      (std::vector<std::string>{fmt::format("{},test_loss,test_mae", fixed), "step,1,1,0.5,0.001,4,0.25,0.125,0,7,",
                                "step,2,1,0.25,0.001,4,0.25,0.125,0,7,", "epoch,2,1,0.375,,,0.5,,,,0.0625,0.5,0.25",
                                "step,3,2,0.16666666666666666,0.001,4,0.25,0.125,0,7,"}));
}

TEST(MetricsCsv, TheValidationSetHasColumnsOfItsOwnAlsoAfterAResume) {
  const TemporaryFolder folder;
  train::EpochDone epoch{1, 2, 0.375, {}, 0.5, 0.0625};
  epoch.validation = {{"loss", 0.25}};
  for (const std::int64_t first : {0, 2}) {
    const auto sink = metrics_csv();
    train::Start start;
    start.folder = folder.path();
    start.first_step = first, start.first_epoch = first / 2;
    sink->start(start);
    if (first > 0) epoch.test = {{"loss", 0.75}}, epoch.epoch = 2, epoch.step = 4;
    sink->epoch(epoch);
    sink->end({});
  }
  EXPECT_EQ(
      rows_of(folder / "metrics.csv"),
      (std::vector<std::string>{fmt::format("{},validation_loss,test_loss", fixed),
                                "epoch,2,1,0.375,,,0.5,,,,0.0625,0.25", "epoch,4,2,0.375,,,0.5,,,,0.0625,0.25,0.75"}));
}

TEST(MetricsCsv, FiguresThatComeLaterGetColumnsOfTheirOwn) {
  const TemporaryFolder folder;
  const auto sink = metrics_csv();
  begin(*sink, folder.path(), 0);
  steps(*sink, 1, 2, {});
  steps(*sink, 3, 4, {{"loss", 0.5}});
  steps(*sink, 5, 6, {{"iou", 0.75}, {"loss", 0.25}});
  steps(*sink, 7, 8, {{"iou", 0.8}});
  sink->end({});
  const std::vector<std::string> rows = rows_of(folder / "metrics.csv");
  ASSERT_EQ(rows.size(), 13u);
  EXPECT_EQ(rows[0], fmt::format("{},test_loss,test_iou", fixed));
  EXPECT_EQ(rows[3], "epoch,2,1,0.375,,,0.5,,,,0.0625");
  EXPECT_EQ(rows[6], "epoch,4,2,0.375,,,0.5,,,,0.0625,0.5");
  EXPECT_EQ(rows[9], "epoch,6,3,0.375,,,0.5,,,,0.0625,0.25,0.75");
  EXPECT_EQ(rows[12], "epoch,8,4,0.375,,,0.5,,,,0.0625,,0.8");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(MetricsCsv, ResumedRunGoesOnWithoutDuplicates) {
  const TemporaryFolder whole, resumed;
  const std::map<std::string, double> test{{"loss", 0.5}, {"mae", 0.25}};
  {
    const auto sink = metrics_csv();
    begin(*sink, whole.path(), 0);
    steps(*sink, 1, 8, test);
    sink->end({});
  }
  {
    const auto sink = metrics_csv();
    begin(*sink, resumed.path(), 0);
    steps(*sink, 1, 6, test);
    sink->end({});
  }
  std::ofstream(resumed / "metrics.csv", std::ios::app) << "step,7,4,0.0";  // torn by a crash
  {
    const auto sink = metrics_csv();
    begin(*sink, resumed.path(), 3);
    steps(*sink, 4, 8, test);
    sink->end({});
  }
  EXPECT_EQ(text_of(resumed / "metrics.csv"), text_of(whole / "metrics.csv"));
}

TEST(MetricsCsv, WhatIsNoSuchTableIsBegunAnew) {
  const TemporaryFolder folder;
  std::ofstream(folder / "metrics.csv") << "something else\nstep,1,1\n";
  const auto sink = metrics_csv();
  begin(*sink, folder.path(), 3);
  steps(*sink, 5, 5, {});
  sink->end({});
  EXPECT_EQ(rows_of(folder / "metrics.csv").size(), 2u);
}

TEST(MetricsCsv, RowsAreWrittenWhileTheRunGoesOn) {
  const TemporaryFolder folder;
  const auto sink = metrics_csv();
  begin(*sink, folder.path(), 0);
  sink->step({1, 1, 1, 4, 0.5, 1e-3, 0.25, 0, 0, 0});
  sink->step({2, 1, 2, 4, 0.5, 1e-3, 0.25, 0, 0, 0});
  EXPECT_EQ(rows_of(folder / "metrics.csv").size(), 3u);
}

TEST(MetricsCsv, FieldsAreQuotedWhereTheyMust) {
  EXPECT_EQ(csv_field("test_iou.river"), "test_iou.river");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("a \"b\"\nc"), "\"a \"\"b\"\" c\"");
}

TEST(MetricsCsv, QuotedColumnsAreKnownAgain) {
  const TemporaryFolder folder;
  const std::map<std::string, double> test{{"a,b", 1}, {"c\"d", 2}};
  for (const std::int64_t first : {0, 2}) {
    const auto sink = metrics_csv();
    begin(*sink, folder.path(), first);
    steps(*sink, first + 1, first + 2, test);
    sink->end({});
  }
  const std::vector<std::string> rows = rows_of(folder / "metrics.csv");
  ASSERT_EQ(rows.size(), 7u);
  EXPECT_EQ(rows[0], fmt::format("{},\"test_a,b\",\"test_c\"\"d\"", fixed));
}

TEST(MetricsCsv, AFolderThatIsNotThereIsAnError) {
  const TemporaryFolder folder;
  const auto sink = metrics_csv();
  EXPECT_THROW(begin(*sink, folder / "none", 0), Error);
}

}  // namespace
}  // namespace isobar::record
