#include "isobar/forecast/traced_kernels.hpp"

#include "tests/expect_error.hpp"

namespace isobar::forecast {
namespace {

const std::vector<record::PlannedStep> plan{
    {.name = "conv", .kernel = "forward", .category = "forward convolution", .flops = 10, .bytes = 1},
    {.name = "view", .kernel = "reshape", .category = "copy"},
    {.name = "loss", .kernel = "mse", .category = "forward point-wise", .flops = 1, .bytes = 1},
    {.name = "conv", .kernel = "weight gradient", .category = "backward convolution", .flops = 10, .bytes = 1}};

record::TraceEvent event(std::int64_t step, const std::string& name, const std::string& category, double seconds) {
  return {.name = name, .category = category, .step = step, .seconds = seconds};
}

void pass(std::vector<record::TraceEvent>& events, std::int64_t step, double factor) {
  events.push_back(event(step, "conv forward", "forward convolution", 3 * factor));
  events.push_back(event(step, "loss mse", "forward point-wise", 1 * factor));
  events.push_back(event(step, "conv weight gradient", "backward convolution", 4 * factor));
}

void step(std::vector<record::TraceEvent>& events, std::int64_t number, double factor) {
  events.push_back(event(number, "waiting for input", "I/O", 100));
  pass(events, number, factor);
  events.push_back(event(number, "gradients 1 of 1", "communication", 50));
  events.push_back(event(number, "conv.w update", "optimizer", 2 * factor));
  events.push_back(event(number, "idle", "idle", 7));
}

TEST(TracedKernels, AreMediansOfKernelsAndUpdates) {
  std::vector<record::TraceEvent> events;
  for (const double factor : {1.0, 9.0, 2.0}) step(events, 2 + static_cast<std::int64_t>(factor), factor);
  events.push_back({.name = "conv forward", .category = "forward convolution", .lane = Lane::exchange, .step = 4});
  const TracedKernels kernels = match_kernels(plan, events, "trace");
  EXPECT_EQ(kernels.steps, 3);
  EXPECT_EQ(kernels.passes, 1);
  EXPECT_EQ(kernels.seconds, (std::vector<double>{6, 0, 2, 8}));
  EXPECT_EQ(kernels.earlier_passes, 0);
  ASSERT_TRUE(kernels.updates.contains("conv.w"));
  EXPECT_EQ(kernels.updates.at("conv.w"), 4);
}

TEST(TracedKernels, PiecesOfAKernelAreAddedUp) {
  std::vector<record::TraceEvent> events{
      event(2, "conv forward", "forward convolution", 1),          event(2, "statistics", "communication", 5),
      event(2, "conv forward", "forward convolution", 2),          event(2, "loss mse", "forward point-wise", 1),
      event(2, "conv weight gradient", "backward convolution", 3), event(2, "statistics", "communication", 5),
      event(2, "conv weight gradient", "backward convolution", 1)};
  EXPECT_EQ(match_kernels(plan, events, "trace").seconds, (std::vector<double>{3, 0, 1, 4}));
}

TEST(TracedKernels, MicroBatchesBeforeTheLastAreOneStretch) {
  std::vector<record::TraceEvent> events;
  pass(events, 2, 1);
  events.push_back(event(2, "sum of micro-batches", "copy", 0.5));
  pass(events, 2, 2);
  const TracedKernels kernels = match_kernels(plan, events, "trace");
  EXPECT_EQ(kernels.passes, 2);
  EXPECT_EQ(kernels.seconds, (std::vector<double>{6, 0, 2, 8}));
  EXPECT_EQ(kernels.earlier_passes, 8.5);
}

TEST(TracedKernels, AnotherPlanIsAnErrorWithBothKernels) {
  std::vector<record::TraceEvent> events;
  events.push_back(event(2, "conv forward", "forward convolution", 1));
  events.push_back(event(2, "pool max", "forward point-wise", 1));
  const std::string other = tests::error_of([&] { match_kernels(plan, events, "t/rank0.json"); });
  EXPECT_HAS(other, "t/rank0.json: step 2 comes from another plan");
  EXPECT_HAS(other, "'pool max'");
  EXPECT_HAS(other, "'loss mse'");
  events.pop_back();
  EXPECT_HAS(tests::error_of([&] { match_kernels(plan, events, "t"); }), "ends before kernel 3");
  EXPECT_HAS(tests::error_of([&] { match_kernels(plan, {}, "t"); }), "no step was traced");
  EXPECT_HAS(tests::error_of([&] { match_kernels(plan, std::vector{event(2, "idle", "idle", 1)}, "t"); }),
             "has no kernel at all");
}

}  // namespace
}  // namespace isobar::forecast
