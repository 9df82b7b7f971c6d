#include <gtest/gtest.h>

#include "isobar/record/sinks.hpp"

#include "tests/capture.hpp"

namespace isobar::record {
namespace {

using namespace isobar::tests;
Trace small_trace() {
  Trace trace;
  const auto name = trace.intern("conv1");
  trace.record({Category::backward_convolution, name, 1, 0, 1.5, 300e9, 6e9});
  trace.record({Category::forward_convolution, name, 1, 0, 0.25, 100e9, 2e9});
  trace.record({Category::forward_convolution, name, 2, 0, 0.25, 100e9, 2e9});
  return trace;
}

train::End two_rows(std::span<const float> predictions, std::span<const float> targets) {
  train::End end;
  end.target_names = {"omega_m", "sigma_8"};
  end.target_shape = Shape{2};
  end.predictions = predictions;
  end.targets = targets;
  return end;
}

constexpr float targets[] = {0.1f, -1, 0.5f, 1};
constexpr float predictions[] = {0.2f, -0.75f, 0.5f, 0.3f};

TEST(CategoryTable, OnlyWhatHappenedInTheOrderOfTheEnum) {
  EXPECT_EQ(category_table(small_trace()),
            "category                 events   seconds      %          GF         GB     GF/s     GB/s\n"
            "forward convolution           2     0.500   25.0       200.0        4.0    400.0      8.0\n"
            "backward convolution          1     1.500   75.0       300.0        6.0    200.0      4.0\n"
            "all                           3     2.000  100.0       500.0       10.0    250.0      5.0\n");
}

TEST(CategoryTable, EmptyTraceHasNoRates) {
  EXPECT_EQ(category_table(Trace()),
            "category                 events   seconds      %          GF         GB     GF/s     GB/s\n"
            "all                           0     0.000    0.0\n");
}

TEST(PredictionsCsv, NamesAndNumbers) {
  EXPECT_EQ(predictions_csv(two_rows(predictions, targets)),
            "sample,omega_m,omega_m_predicted,sigma_8,sigma_8_predicted\n"
            "0,0.1,0.2,-1,-0.75\n"
            "1,0.5,0.5,1,0.3\n");
  train::End unnamed = two_rows(predictions, targets);
  unnamed.target_names.clear();
  EXPECT_TRUE(predictions_csv(unnamed).starts_with("sample,y0,y0_predicted,y1,y1_predicted\n"));
  EXPECT_EQ(predictions_csv({}), "");
}

TEST(PredictionsCsv, ClassesByName) {
  const float logits[] = {0, 2, 1, 3, 3, 1}, classes[] = {1, 2};
  train::End end = two_rows(logits, classes);
  end.target_names = {"cat", "dog"};
  end.target_shape = Shape{1};
  EXPECT_EQ(predictions_csv(end), "sample,class,predicted\n0,dog,dog\n1,2,cat\n");
  end.target_shape = Shape{2};  // a sample of two positions
  EXPECT_EQ(predictions_csv(end), "");
}

TEST(PredictionsCsv, FieldsOfNumbersAreNoTable) {
  const std::vector<float> field(100);
  train::End end = two_rows(field, field);
  end.target_shape = Shape{10, 10};
  EXPECT_EQ(predictions_csv(end), "");
}

TEST(RunSummary, WritesReportAndPredictions) {
  const TemporaryFolder folder;
  const auto sink = run_summary();
  train::Start start;
  start.folder = folder.path();
  start.recipe = Spec("recipe", {{"seed", 7}});
  start.parameters = 1234;
  sink->start(start);
  const Trace trace = small_trace();
  train::End end = two_rows(predictions, targets);
  end.steps = 2000;
  end.seconds = 75;
  end.test = {{"loss", 0.25}, {"mae", 0.125}};
  end.trace = &trace;
  end.skipped = 1500;
  end.first_skipped = {"reading a.h5: torn"};
  end.staging = {{"train.bytes_read", 1048576}};
  sink->end(end);
  const std::string report = text_of(folder / "report.txt");
  for (const char* part :
       {"finished 2,000 steps", "in 1:15", "1,234 parameters", "test mae", "0.125", "backward convolution", "seed = 7",
        "1,500 bad samples were skipped", "reading a.h5: torn", "train.bytes_read", "1,048,576"})
    EXPECT_NE(report.find(part), std::string::npos) << part << "\n" << report;
  EXPECT_EQ(text_of(folder / "predictions.csv"), predictions_csv(end));
}

TEST(RunSummary, WithoutPredictionsThereIsNoTableOfThem) {
  const TemporaryFolder folder;
  const auto sink = run_summary();
  train::Start start;
  start.folder = folder.path();
  start.recipe = Spec("recipe", {});
  sink->start(start);
  sink->end({.reason = train::End::Reason::interrupted, .steps = 3});
  EXPECT_TRUE(text_of(folder / "report.txt").starts_with("interrupted after 3 steps"));
  EXPECT_FALSE(std::filesystem::exists(folder / "predictions.csv"));
}

TEST(RunSummary, TellsWhatExchangingCost) {
  const TemporaryFolder folder;
  const auto sink = run_summary();
  train::Start start;
  start.folder = folder.path();
  start.ranks = 4;
  start.nodes = 2;
  start.batching = "global batch 8: 4 ranks with 1 micro-batch of 2";
  start.strategy = "sync: hierarchical";
  sink->start(start);
  train::End end;
  end.steps = 10;
  end.step_seconds = 8;
  end.exchange.gradients = {.waited_seconds = 1, .traffic = {.messages = 40, .bytes = 50'000'000}};
  sink->end(end);
  const std::string text = text_of(folder / "report.txt");
  EXPECT_NE(text.find("4 ranks on 2 nodes, not bound\n"
                      "global batch 8: 4 ranks with 1 micro-batch of 2; sync: hierarchical\n"
                      "exposed communication 12.5 % of the steps' time; rank 0 sent 5.00 MB per step\n"),
            std::string::npos)
      << text;
}

TEST(RunSummary, TellsWhatMessagesOfTheModelCostAndWhatWasHidden) {
  const TemporaryFolder folder;
  const auto sink = run_summary();
  train::Start start;
  start.folder = folder.path();
  start.ranks = start.ways = 2;
  start.part = "depth 0-15 of 32";
  sink->start(start);
  train::End end;
  end.steps = 10;
  end.step_seconds = 8;
  end.exchange.gradients = {.waited_seconds = 1, .busy_seconds = 1, .traffic = {.messages = 40, .bytes = 50'000'000}};
  end.exchange.messages = {
      .waited_seconds = 0.2, .busy_seconds = 0.8, .sums = 9, .traffic = {.messages = 20, .bytes = 10'000'000}};
  sink->end(end);
  const std::string text = text_of(folder / "report.txt");
  EXPECT_NE(text.find("exposed communication 15.0 % of the steps' time; rank 0 sent 6.00 MB per step\n"
                      "one model over 2 ranks; rank 0 has depth 0-15 of 32\n"
                      "  messages of the model exposed 2.5 %, 1.00 MB per step, 75 % of their time hidden\n"
                      "  gradients             exposed 12.5 %, 5.00 MB per step, 0 % of their time hidden\n"),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace isobar::record
