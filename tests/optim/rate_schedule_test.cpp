#include "isobar/optim/rate_schedule.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace isobar::optim {
namespace {

std::unique_ptr<RateSchedule> schedule(std::string_view text) {
  return make(rate_schedules(), Spec(text), "rate schedule");
}

constexpr std::int64_t steps_per_epoch = 8;

// The rate with base 1 after `epochs` epochs of a run of 100.
double after(const RateSchedule& rates, double epochs, double base = 1, std::int64_t global_batch = 64) {
  return rates.rate(base, {.step = std::llround(epochs * steps_per_epoch),
                           .steps_per_epoch = steps_per_epoch,
                           .total_steps = 100 * steps_per_epoch,
                           .global_batch = global_batch});
}

TEST(KnownAnswer, rate_constant) {
  EXPECT_EQ(after(*schedule("constant"), 0, 0.3), 0.3);
  EXPECT_EQ(after(*schedule("constant"), 77.5, 0.3), 0.3);
}

TEST(KnownAnswer, rate_step) {
  const auto rates = schedule("step(every=10, gamma=0.5)");
  EXPECT_EQ(after(*rates, 9.875), 1);
  EXPECT_EQ(after(*rates, 10), 0.5);
  EXPECT_EQ(after(*rates, 35), 0.125);
}

TEST(KnownAnswer, rate_piecewise_is_strict_and_absolute) {
  const auto rates = schedule("piecewise(boundaries=[32, 64], factors=[0.25, 0.125])");
  EXPECT_EQ(after(*rates, 32), 1);
  EXPECT_EQ(after(*rates, 32.875), 1);
  EXPECT_EQ(after(*rates, 33), 0.25);
  EXPECT_EQ(after(*rates, 64.5), 0.25);
  EXPECT_EQ(after(*rates, 65), 0.125);
  EXPECT_EQ(after(*schedule("piecewise(boundaries=[], factors=[])"), 50), 1);
}

TEST(KnownAnswer, rate_polynomial) {
  const auto rates = schedule("polynomial(power=2, end=0.1, epochs=10)");
  EXPECT_DOUBLE_EQ(after(*rates, 0), 1);
  EXPECT_DOUBLE_EQ(after(*rates, 5), 0.1 + 0.9 * 0.25);
  EXPECT_DOUBLE_EQ(after(*rates, 10), 0.1);
  EXPECT_DOUBLE_EQ(after(*rates, 50), 0.1);
  EXPECT_DOUBLE_EQ(after(*schedule("polynomial"), 25), 0.75);  // over the whole run of 100 epochs
}

TEST(KnownAnswer, rate_cosine) {
  const auto rates = schedule("cosine(end=0.2, epochs=8)");
  EXPECT_DOUBLE_EQ(after(*rates, 0), 1);
  EXPECT_DOUBLE_EQ(after(*rates, 4), 0.6);
  EXPECT_DOUBLE_EQ(after(*rates, 2), 0.2 + 0.8 * (1 + std::sqrt(0.5)) / 2);
  EXPECT_DOUBLE_EQ(after(*rates, 9), 0.2);
  EXPECT_NEAR(after(*schedule("cosine"), 100), 0, 1e-15);
}

TEST(KnownAnswer, rate_exponential) {
  const auto rates = schedule("exponential(gamma=0.25, every=2)");
  EXPECT_DOUBLE_EQ(after(*rates, 0), 1);
  EXPECT_DOUBLE_EQ(after(*rates, 1), 0.5);
  EXPECT_DOUBLE_EQ(after(*rates, 4), 0.0625);
}

TEST(KnownAnswer, rate_warmup_per_step_and_per_epoch) {
  const auto smooth = schedule("warmup(epochs=4, from=0.2, per=step)");
  const auto stairs = schedule("warmup(epochs=4, from=0.2, per=epoch)");
  for (const auto* rates : {smooth.get(), stairs.get()}) {
    EXPECT_DOUBLE_EQ(after(*rates, 0), 0.2);
    EXPECT_DOUBLE_EQ(after(*rates, 2), 0.6);
    EXPECT_DOUBLE_EQ(after(*rates, 4), 1);
    EXPECT_DOUBLE_EQ(after(*rates, 40), 1);
  }
  EXPECT_DOUBLE_EQ(after(*smooth, 2.5), 0.7);
  EXPECT_DOUBLE_EQ(after(*stairs, 2.5), 0.6);
  EXPECT_DOUBLE_EQ(after(*schedule("warmup(epochs=0)"), 0), 1);
  EXPECT_DOUBLE_EQ(after(*schedule("warmup(epochs=0, then=step(every=1, gamma=0.5))"), 1), 0.5);
}

TEST(KnownAnswer, rate_warmup_leads_to_the_inner_schedule_on_its_own_clock) {
  const auto rates = schedule("warmup(epochs=4, from=0, then=polynomial(epochs=8))");
  EXPECT_DOUBLE_EQ(after(*rates, 2), 0.75 / 2);
  EXPECT_DOUBLE_EQ(after(*rates, 4), 0.5);
  EXPECT_DOUBLE_EQ(after(*rates, 6), 0.25);
}

TEST(KnownAnswer, rate_scale) {
  EXPECT_DOUBLE_EQ(after(*schedule("scale(by=linear, base_batch=64)"), 0, 0.001, 512), 0.008);
  EXPECT_DOUBLE_EQ(after(*schedule("scale(by=sqrt, base_batch=32)"), 0, 0.0025, 128), 0.005);
  EXPECT_DOUBLE_EQ(after(*schedule("scale(then=step(every=1, gamma=0.5))"), 2, 1, 256), 1);
}

// By the definition of PyTorch's ReduceLROnPlateau with a relative threshold: a drop follows more than two bad
// evaluations.
TEST(KnownAnswer, rate_plateau) {
  const std::vector<double> losses{1, 0.9, 0.95, 0.90001, 0.8, 0.81, 0.8, 0.79999, 0.7, 0.7, 0.7, 0.7, 0.7, 0.7};
  const std::vector<double> factors{1, 1, 1, 1, 1, 1, 1, 1, 0.5, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25};
  const auto rates = schedule("plateau(factor=0.5, patience=2, threshold=0.01)");
  const auto lowest = schedule("plateau(factor=0.5, patience=2, threshold=0.01, lowest=0.4)");
  const auto wrapped = schedule("warmup(epochs=0, then=scale(base_batch=64, then=plateau(patience=100)))");
  ASSERT_EQ(factors.size(), losses.size() + 1);
  for (std::size_t seen = 0; seen <= losses.size(); ++seen) {
    const Progress progress{.global_batch = 64, .judged_losses = std::span(losses).first(seen)};
    EXPECT_EQ(rates->rate(0.2, progress), 0.2 * factors[seen]) << seen << " evaluations";
    EXPECT_EQ(lowest->rate(1, progress), std::max(0.4, factors[seen])) << seen << " evaluations";
    EXPECT_EQ(wrapped->rate(0.2, progress), 0.2);
  }
  for (const auto* each : {rates.get(), wrapped.get()}) EXPECT_TRUE(each->follows_losses());
  EXPECT_FALSE(schedule("warmup(then=step)")->follows_losses());
}

TEST(RateSchedule, ALossThatIsNoNumberIsNoImprovement) {
  const auto rates = schedule("plateau(factor=0.1, patience=0)");
  const std::vector<double> losses{std::nan(""), 3, std::nan("")};
  const auto after_losses = [&](std::size_t seen) {
    return rates->rate(1, {.judged_losses = std::span(losses).first(seen)});
  };
  EXPECT_EQ(after_losses(0), 1);
  EXPECT_EQ(after_losses(1), 0.1);
  EXPECT_EQ(after_losses(2), 0.1);
  EXPECT_DOUBLE_EQ(after_losses(3), 0.01);
  const std::vector<double> negative{-1, -2, -3};
  EXPECT_EQ(rates->rate(1, {.judged_losses = negative}), 1);
}

// The schedule of MLPerf HPC CosmoFlow, formula for formula.
TEST(RateSchedule, MlperfCosmoflow) {
  const auto rates = schedule(
      "warmup(epochs=4, from=1, per=epoch, "
      "then=scale(by=linear, base_batch=64, then=piecewise(boundaries=[32, 64], factors=[0.25, 0.125])))");
  for (const std::int64_t batch : {64, 256, 1024})
    for (std::int64_t e = 0; e < 128; ++e) {
      const double base = 0.001, peak = 0.001 * (static_cast<double>(batch) / 64);
      double expected = peak;
      if (e < 4) expected = base + static_cast<double>(e) * (peak - base) / 4;
      else if (e > 64) expected = peak * 0.125;
      else if (e > 32) expected = peak * 0.25;
      for (const double part : {0.0, 0.5, 0.875})
        EXPECT_DOUBLE_EQ(after(*rates, static_cast<double>(e) + part, base, batch), expected)
            << "epoch " << e << " batch " << batch;
    }
}

TEST(RateSchedule, EveryMemberGivesAFiniteRateThroughoutARun) {
  for (const auto* row : rate_schedules()) {
    const auto rates = schedule(row->name);
    for (std::int64_t step = 0; step <= 120; ++step) {
      const double rate = rates->rate(0.5, {step, 10, 100, 64});
      EXPECT_TRUE(std::isfinite(rate) && rate >= 0 && rate <= 0.5) << row->name << " step " << step << ": " << rate;
    }
  }
}

TEST(RateSchedule, NestedDefaultsAreResolved) {
  Spec resolved;
  make(rate_schedules(), "warmup(then=scale(base_batch=8))", "rate schedule", &resolved);
  EXPECT_EQ(resolved.str(),
            "warmup(epochs=4.0, from=0.1, per=step, then=scale(by=linear, base_batch=8, then=constant))");
}

TEST(RateSchedule, BadArgumentsAreUsageErrors) {
  for (const char* text : {"step(every=0)",
                           "step(gamma=0)",
                           "step(gamma=2)",
                           "piecewise(boundaries=[1])",
                           "piecewise(boundaries=[2, 1])",
                           "piecewise(boundaries=[1, 1])",
                           "piecewise(boundaries=[-1, 1])",
                           "piecewise(factors=[1, -1])",
                           "polynomial(power=0)",
                           "polynomial(end=2)",
                           "polynomial(epochs=-1)",
                           "cosine(end=nan)",
                           "exponential(every=0)",
                           "plateau(factor=1)",
                           "plateau(factor=0)",
                           "plateau(patience=-1)",
                           "plateau(threshold=1)",
                           "plateau(lowest=2)",
                           "warmup(per=day)",
                           "warmup(epochs=-1)",
                           "warmup(from=-1)",
                           "warmup(then=3)",
                           "warmup(then=cosin)",
                           "warmup(then=cosine(stop=1))",
                           "scale(by=cube)",
                           "scale(base_batch=0)",
                           "constant(x=1)"})
    EXPECT_THROW(schedule(text), UsageError) << text;
}

}  // namespace
}  // namespace isobar::optim
