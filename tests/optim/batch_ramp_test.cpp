#include "isobar/optim/batch_ramp.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace isobar::optim {
namespace {

std::unique_ptr<BatchRamp> ramp(std::string_view text) { return make(batch_ramps(), Spec(text), "batch ramp"); }

// The factor after `epochs` epochs of a run of 20, with 8 steps of factor 1 per epoch.
std::int64_t after(const BatchRamp& ramp, double epochs) {
  return ramp.factor({.step = std::llround(8 * epochs), .steps_per_epoch = 8, .total_steps = 160});
}

TEST(KnownAnswer, ramp_constant) {
  EXPECT_EQ(after(*ramp("constant"), 0), 1);
  EXPECT_EQ(after(*ramp("constant(factor=3)"), 7.5), 3);
}

TEST(KnownAnswer, ramp_steps_hold_from_their_epoch_on_and_may_fall) {
  const auto stairs = ramp("steps(at=[2, 4.5, 6], factors=[4, 16, 2])");
  EXPECT_EQ(after(*stairs, 0), 1);
  EXPECT_EQ(after(*stairs, 1.875), 1);
  EXPECT_EQ(after(*stairs, 2), 4);
  EXPECT_EQ(after(*stairs, 4.375), 4);
  EXPECT_EQ(after(*stairs, 4.5), 16);
  EXPECT_EQ(after(*stairs, 100), 2);
  EXPECT_EQ(stairs->largest(), 16);
  EXPECT_EQ(after(*ramp("steps(at=[0], factors=[5])"), 0), 5);
  EXPECT_EQ(after(*ramp("steps(at=[], factors=[])"), 3), 1);
}

TEST(KnownAnswer, ramp_linear_goes_to_the_nearest_whole_number) {
  const auto line = ramp("linear(from=1, to=5, over=4)");
  EXPECT_EQ(after(*line, 0), 1);
  EXPECT_EQ(after(*line, 0.375), 1);
  EXPECT_EQ(after(*line, 0.5), 2);
  EXPECT_EQ(after(*line, 2), 3);
  EXPECT_EQ(after(*line, 4), 5);
  EXPECT_EQ(after(*line, 11), 5);
  EXPECT_EQ(after(*ramp("linear(from=8, to=2, over=2)"), 1), 5);
  EXPECT_EQ(after(*ramp("linear(from=1, to=21)"), 10), 11);  // over the whole run of 20 epochs
  EXPECT_EQ(ramp("linear(from=8, to=2)")->largest(), 8);
}

// The batch of a step depends on the samples seen, however many steps took them.
TEST(BatchRamp, EveryMemberStaysBetweenOneAndItsLargest) {
  for (const auto* row : batch_ramps()) {
    const auto member = ramp(row->name);
    for (double epochs = 0; epochs <= 200; epochs += 0.125) {
      EXPECT_GE(after(*member, epochs), 1) << row->name;
      EXPECT_LE(after(*member, epochs), member->largest()) << row->name;
    }
  }
}

TEST(BatchRamp, BadArgumentsAreUsageErrors) {
  for (const char* text :
       {"constant(factor=0)", "constant(factor=2000000)", "steps(at=[1])", "steps(at=[2, 1])", "steps(at=[1, 1])",
        "steps(at=[-1, 1])", "steps(factors=[1, 0])", "steps(factors=[1, 1.5])", "steps(at=[1, nan])", "linear(from=0)",
        "linear(to=0)", "linear(over=-1)", "linear(over=inf)", "cubic"})
    EXPECT_THROW(ramp(text), UsageError) << text;
}

}  // namespace
}  // namespace isobar::optim
