#include <gtest/gtest.h>

#include "isobar/record/rate.hpp"
#include "isobar/record/run_status.hpp"
#include "isobar/record/sinks.hpp"

#include "tests/capture.hpp"

namespace isobar::record {
namespace {

using namespace isobar::tests;
train::Start small_run() {
  train::Start start;
  start.recipe = Spec("recipe", {{"model", Value(std::string("cosmoflow(size=32)"))}});
  start.folder = "runs/small";
  start.parameters = 4843940;
  start.flops_per_sample = 2e9;
  start.train_samples = 40;
  start.test_samples = 8;
  start.epochs = 2;
  start.steps_per_epoch = 10;
  start.arena_bytes = 12'300'000;
  start.weight_bytes = 77'000'000;
  start.threads = 2;
  return start;
}

// One run of 2 x 10 steps with 4 samples and half a second each; the clock advances with it.
std::string shown(bool terminal, bool quiet, train::Start start = small_run(), int columns = 200, double peak = 0) {
  Capture capture;
  double time = 0;
  const auto sink =
      progress(Screen{capture.file(), terminal, [=] { return columns; }, [&] { return time; }}, quiet, peak);
  sink->start(start);
  for (std::int64_t step = start.first_step + 1; step <= 20; ++step) {
    time += 0.5;
    const std::int64_t epoch = (step - 1) / 10 + 1;
    sink->step({step, epoch, (step - 1) % 10 + 1, 4, 0.25, 1e-3, 0.5, 0.05, 0.1, 1000});
    if (step % 10 == 0) sink->epoch({epoch, step, 0.25, {{"loss", 0.5}, {"mae", 0.125}}, 5.0, 1.0}), time += 1;
  }
  sink->checkpoint({"runs/small/checkpoints/step_000020.h5", 20, 77e6, 0.1});
  sink->end({train::End::Reason::finished, 20, 12.0, {{"loss", 0.5}, {"mae", 0.125}}});
  return capture.text();
}

TEST(Progress, PlainLinesForALog) {
  EXPECT_EQ(
      shown(false, false),
      "cosmoflow(size=32): 4,843,940 parameters\n"
      "40 training samples, 8 for testing; 2 epochs of 10 steps\n"
      "memory: 12.3 MB for activations, 77.0 MB for weights, gradients and optimizer, 0 B for checkpoints; 2 threads\n"
      "epoch 1/2  6.0 s  8 samples/s  16.0 GF/s  train loss 0.25  test loss 0.5  mae 0.125\n"
      "epoch 2/2 [==============> ] step 8/10  loss 0.25  mae 0.125  8 samples/s  16.0 GF/s  I/O wait 10 %  left 2 s\n"
      "epoch 2/2  6.0 s  8 samples/s  16.0 GF/s  train loss 0.25  test loss 0.5  mae 0.125\n"
      "finished 20 steps in 12 s  test loss 0.5  mae 0.125\n"
      "the run is in runs/small, its weights in checkpoints/step_000020.h5 (77.0 MB)\n");
}

TEST(Progress, TerminalLineIsRedrawnAndTakenAway) {
  const std::string text = shown(true, false);
  EXPECT_NE(
      text.find("\repoch 1/2 [>               ] step 1/10  loss 0.25  8 samples/s  16.0 GF/s  I/O wait 10 %  left 10 s"
                "\x1b[K\repoch 1/2 [=>"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("\r\x1b[Kepoch 1/2  6.0 s"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("(77.0 MB)\n"));
}

TEST(Progress, RanksAreShownWithWhatTheirExchangeCosts) {
  train::Start start = small_run();
  start.ranks = 2;
  start.placement = "1 thread each, bound to cores 0; communication shares them";
  start.batching = "global batch 4: 2 ranks with 1 micro-batch of 2";
  start.strategy = "sync: shared memory of 2 ranks";
  const std::string text = shown(false, false, start);
  EXPECT_NE(text.find("\n2 ranks on 1 node, 1 thread each, bound to cores 0; communication shares them\n"
                      "global batch 4: 2 ranks with 1 micro-batch of 2; sync: shared memory of 2 ranks\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("I/O wait 10 %  exposed communication 20 %  left 2 s\n"), std::string::npos) << text;
}

TEST(Progress, MessagesOfAModelThatIsCutAreShownBesideTheWhole) {
  RunStatus status;
  train::Start start = small_run();
  start.ranks = start.ways = 2;
  start.part = "depth 0-15 of 32";
  const std::vector<std::string> lines = status.start(start);
  EXPECT_EQ(std::ranges::count(lines, "one model over 2 ranks; rank 0 has depth 0-15 of 32"), 1);
  train::StepDone step{1, 1, 1, 4, 0.25, 1e-3, 1.0, 0.0, 0.25};
  step.costs.messages = {.waited_seconds = 0.2, .busy_seconds = 0.8, .sums = 3};
  status.step(step);
  EXPECT_NE(status.line().find("exposed communication 25 % (messages 20 %, 75 % hidden)"), std::string::npos)
      << status.line();
  EXPECT_NE(status.line(70).find("comm 25%"), std::string::npos) << status.line(70);
}

TEST(Progress, TerminalLineFitsTheWindow) {
  const std::string text = shown(true, false, small_run(), 30);
  for (std::size_t at = text.find('\r'); at != std::string::npos; at = text.find('\r', at + 1))
    EXPECT_LE(text.find_first_of("\x1b", at) - at - 1, 29u);
}

TEST(Progress, SpeedIsComparedWithThePeak) {
  const std::string text = shown(false, false, small_run(), 200, 400e9);
  EXPECT_NE(text.find("epoch 1/2  6.0 s  8 samples/s  16.0 GF/s (4.0 % of peak)  train loss 0.25  test"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("8 samples/s  16.0 GF/s (4.0 % of peak)  I/O wait 10 %  left 2 s\n"), std::string::npos) << text;
}

TEST(Progress, QuietTellsNothing) { EXPECT_EQ(shown(true, true), ""); }

TEST(Progress, ResumedRunCountsFromWhereItWas) {
  train::Start start = small_run();
  start.first_step = 15;
  const std::string text = shown(true, false, start);
  EXPECT_NE(text.find("resumed after step 15 of 20\n"), std::string::npos) << text;
  EXPECT_NE(text.find("step 6/10  loss 0.25  8 samples/s  16.0 GF/s  I/O wait 10 %  left 2 s"), std::string::npos)
      << text;
}

TEST(Progress, NothingKnownIsNoDivisionByZero) {
  Capture capture;
  double time = 0;
  const auto sink = progress(Screen{capture.file(), true, [] { return 80; }, [&] { return time; }}, /*quiet=*/false);
  sink->start({});
  sink->step({});
  sink->epoch({});
  sink->end({});
  const std::string text = capture.text();
  EXPECT_EQ(text.find("nan"), std::string::npos) << text;
  EXPECT_EQ(text.find("inf"), std::string::npos) << text;
  EXPECT_NE(text.find("network: 0 parameters"), std::string::npos) << text;
}

TEST(Rate, ForgetsOldStepsAndStartsUnbiased) {
  Rate rate;
  EXPECT_EQ(rate.samples_per_second(), 0);
  EXPECT_EQ(rate.waiting(), 0);
  rate.add({.samples = 4, .seconds = 2.0, .wait_seconds = 1.0, .exchange_seconds = 0.5});
  EXPECT_DOUBLE_EQ(rate.exchanging(), 0.25);
  EXPECT_DOUBLE_EQ(rate.samples_per_second(), 2);
  EXPECT_DOUBLE_EQ(rate.seconds_per_step(), 2);
  EXPECT_DOUBLE_EQ(rate.waiting(), 0.5);
  for (int i = 0; i < 400; ++i) rate.add({.samples = 4, .seconds = 0.5});
  EXPECT_NEAR(rate.samples_per_second(), 8, 1e-6);
  EXPECT_NEAR(rate.waiting(), 0, 1e-6);
}

}  // namespace
}  // namespace isobar::record
