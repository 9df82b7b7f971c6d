// The status line of a run: all of it if there is room, otherwise the most important parts.
#include "isobar/record/run_status.hpp"

#include <gtest/gtest.h>

#include "isobar/base/config.hpp"

namespace isobar::record {
namespace {

RunStatus status_of(int ranks, std::map<std::string, double> test = {{"loss", 0.5}, {"mae", 0.125}}) {
  RunStatus status(400e9);
  train::Start start;
  start.recipe = parse_recipe("model = 'cosmoflow'\n[train]\nmetrics = ['r2', 'mae']\n", "test");
  start.epochs = 8;
  start.steps_per_epoch = 80;
  start.flops_per_sample = 1e9;
  start.ranks = ranks;
  start.train_samples = 320;
  status.start(start);
  status.epoch({2, 160, 0.3, std::move(test), 5, 4});
  status.step({172, 3, 12, 4, 0.2514, 1e-3, 0.0625, 0.00125, 0.0025, 1000});
  return status;
}

TEST(RunStatus, WideLineHasAllOfIt) {
  EXPECT_EQ(status_of(2).line(),
            "epoch 3/8 [====>           ] step 12/80  loss 0.2514  mae 0.125  64 samples/s  64.0 GF/s (16 % of peak)  "
            "I/O wait 2 %  exposed communication 4 %  left 53 s");
}

TEST(RunStatus, NarrowLineSaysTheSameInFewerWords) {
  const RunStatus status = status_of(2);
  EXPECT_EQ(status.line(140),
            "epoch 3/8 step 12/80  loss 0.2514  mae 0.125  64 samples/s  64.0 GF/s (16 % of peak)  "
            "I/O wait 2 %  exposed communication 4 %  left 53 s");
  EXPECT_EQ(status.line(79), "3/8 12/80 loss 0.2514 mae 0.125 64/s 64.0 GF/s 16% io 2% comm 4% left 53 s");
  EXPECT_EQ(status_of(1).line(79), "epoch 3/8 12/80 loss 0.2514 mae 0.125 64/s 64.0 GF/s 16% io 2% left 53 s");
}

TEST(RunStatus, WhereThereIsNoRoomTheLeastIsLeftOutFirst) {
  const RunStatus status = status_of(2);
  EXPECT_EQ(status.line(72), "3/8 12/80 loss 0.2514 mae 0.125 64/s 64.0 GF/s 16% comm 4% left 53 s");
  EXPECT_EQ(status.line(60), "3/8 12/80 loss 0.2514 mae 0.125 64/s 64.0 GF/s 16% left 53 s");
  EXPECT_EQ(status.line(50), "3/8 12/80 loss 0.2514 mae 0.125 64/s left 53 s");
  EXPECT_EQ(status.line(40), "3/8 12/80 loss 0.2514 64/s left 53 s");
  EXPECT_EQ(status.line(21), "3/8 12/80 loss 0.2514");
  EXPECT_EQ(status.line(9), "3/8 12/80");
  EXPECT_LE(status.line(5).size(), 5u);
  for (std::size_t columns = 1; columns < 200; ++columns) EXPECT_LE(status.line(columns).size(), columns);
}

TEST(RunStatus, OfSeveralMetricsTheFirstOfTheRecipeIsShown) {
  EXPECT_NE(status_of(1, {{"loss", 0.5}, {"mae", 0.125}, {"r2", 0.75}}).line().find("  r2 0.75  "), std::string::npos);
  EXPECT_NE(status_of(1, {{"loss", 0.5}, {"iou.river", 0.1}, {"iou", 0.7}}).line().find("  iou 0.7  "),
            std::string::npos);
  EXPECT_NE(status_of(1, {{"loss", 0.5}}).line().find("  test loss 0.5  "), std::string::npos);
  const std::string none = status_of(1, {}).line();
  EXPECT_NE(none.find("loss 0.2514  64 samples/s"), std::string::npos) << none;
}

TEST(RunStatus, TheProgressLineShowsTheSetThatJudges) {
  RunStatus status(0);
  train::Start start;
  start.epochs = 8;
  start.train_samples = 90;
  start.validation_samples = 10;
  start.test_samples = 20;
  const std::vector<std::string> lines = status.start(start);
  EXPECT_EQ(lines[1].substr(0, 58), "90 training samples, 10 for validation, 20 for testing; 8 ");
  train::EpochDone done{1, 10, 0.3, {{"loss", 0.5}, {"mae", 0.125}}, 5, 4};
  done.validation = {{"loss", 0.25}, {"mae", 0.0625}};
  const std::string line = status.epoch(done);
  EXPECT_NE(line.find("  validation loss 0.25  mae 0.0625  test loss 0.5  mae 0.125"), std::string::npos) << line;
  EXPECT_NE(status.line().find("  mae 0.0625  "), std::string::npos) << status.line();
  status.epoch({2, 20, 0.3, {{"loss", 0.5}}, 5, 4});  // only the test set was evaluated
  EXPECT_NE(status.line().find("  mae 0.0625  "), std::string::npos) << status.line();
}

TEST(RunStatus, AnEpochWithoutEvaluationKeepsTheLastMetric) {
  RunStatus status = status_of(1);
  status.epoch({3, 240, 0.2, {}, 5, 0});
  status.step({241, 4, 1, 4, 0.25, 1e-3, 0.0625, 0, 0, 0});
  EXPECT_NE(status.line().find("  mae 0.125  "), std::string::npos) << status.line();
}

}  // namespace
}  // namespace isobar::record
