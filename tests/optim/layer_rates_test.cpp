// Hand-computed steps of the rules that use the norms of a whole parameter.
#include <cmath>

#include <gtest/gtest.h>

#include "isobar/base/loops.hpp"
#include "isobar/optim/norm.hpp"
#include "isobar/optim/optimizer.hpp"

namespace isobar::optim {
namespace {

// The weights after one step of a rule, starting with zero slots.
std::vector<float> after(const char* text, const Step& step, std::vector<float> w, const std::vector<float>& g) {
  const auto rule = make(optimizers(), Spec(text), "optimizer");
  std::vector<std::vector<float>> slots(static_cast<std::size_t>(rule->slots()), std::vector<float>(w.size()));
  std::vector<std::span<float>> spans(slots.begin(), slots.end());
  rule->update(w, g, spans, step);
  return w;
}

void expect_near(const std::vector<float>& found, const std::vector<double>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-6 * (1 + std::abs(expected[i])));
}

const std::vector<float> weights{3, 0, -4}, gradients{0, 6, 8};  // norms 5 and 10

TEST(Norm, IsTheLengthAndTakesZerosFreely) {
  EXPECT_EQ(norm(weights), 5);
  EXPECT_EQ(norm({}), 0);
  std::vector<float> padded(3 * loop_part + 7);
  padded[1] = 3;
  padded[2 * loop_part] = -4;
  EXPECT_EQ(norm(padded), 5);
  EXPECT_EQ(norm(std::vector{0x3p100f, 0x4p100f}), 0x5p100);  // squares that do not fit a float
}

TEST(KnownAnswer, larc_keeps_the_rate_of_a_layer_below_the_local_one) {
  // local = 0.2 * 5 / 10 = 0.1: with rate 0.4 the gradient is scaled by a quarter, with rate 0.05 not at all
  const char* const rule = "larc(eta=0.2, mode=clip, base=sgd)";
  expect_near(after(rule, {1, 0.4}, weights, gradients), {3, -0.6, -4.8});
  expect_near(after(rule, {1, 0.05}, weights, gradients), {3, -0.3, -4.4});
  EXPECT_EQ(after(rule, {1, 0}, weights, gradients), weights);
}

TEST(KnownAnswer, larc_scale_and_unit) {
  expect_near(after("larc(eta=0.2, mode=scale, base=sgd)", {1, 0.5}, weights, gradients), {3, -0.3, -4.4});
  expect_near(after("larc(eta=4, mode=scale, base=sgd)", {1, 0.5}, weights, gradients), {3, -6, -12});
  expect_near(after("larc(eta=0.2, mode=unit, base=sgd)", {1, 0.5}, weights, gradients), {3, -0.3, -4.4});
  expect_near(after("larc(eta=4, mode=unit, base=sgd)", {1, 0.5}, weights, gradients), {3, -3, -8});
}

TEST(Larc, FallsBackWhenANormIsZero) {
  // the gradient times 1 / 16000, which is a quarter of a rate of 1 / 4000
  expect_near(after("larc(mode=scale, base=sgd)", {1, 100}, {0, 0}, {8, -16}), {-0.05, 0.1});
  expect_near(after("larc(base=sgd)", {1, 1.0 / 4000}, {0}, {4000}), {-0.25});
  expect_near(after("larc(mode=unit, fallback=2, base=sgd)", {1, 1}, {0}, {5}), {-5});
  EXPECT_EQ(after("larc(base=sgd)", {1, 1}, weights, {0, 0, 0}), weights);
}

TEST(Larc, ScalesBeforeAdamAndLeavesDecayToIt) {
  // Adam's first step is g / (|g| + epsilon): with epsilon 1 a gradient of 6 scaled to 0.06 moves by 0.06 / 1.06
  expect_near(after("larc(eta=0.02, mode=scale, base=adam(epsilon=1))", {1, 0.1}, weights, gradients),
              {3, -0.1 * 0.06 / 1.06, -4 - 0.1 * 0.08 / 1.08});
  expect_near(after("larc(eta=0.2, mode=scale, base=sgd(weight_decay=0.5))", {1, 0.1}, weights, gradients),
              {3 - 0.1 * 1.5, -0.06, -4 - 0.1 * (0.8 - 2)});
}

TEST(Larc, CanLeaveParametersWithoutDecayAlone) {
  const Step bias{.index = 1, .learning_rate = 0.5, .decay_scale = 0};
  expect_near(after("larc(eta=0.2, mode=scale, base=sgd, adapt=decayed)", bias, weights, gradients), {3, -3, -8});
  expect_near(after("larc(eta=0.2, mode=scale, base=sgd)", bias, weights, gradients), {3, -0.3, -4.4});
}

TEST(KnownAnswer, lars_local_rate_takes_the_place_of_the_rate_scale) {
  // local = 0.3 * 5 / (10 + 1 * 5) = 0.1, d = g + w
  const char* const rule = "lars(eta=0.3, weight_decay=1)";
  expect_near(after(rule, {1, 2}, weights, gradients), {3 - 0.2 * 3, -0.2 * 6, -4 - 0.2 * 4});
  Step step{1, 2};
  step.rate_scale = 7;
  expect_near(after(rule, step, weights, gradients), {3 - 0.2 * 3, -0.2 * 6, -4 - 0.2 * 4});
  step.rate_scale = 0;
  EXPECT_EQ(after(rule, step, weights, gradients), weights);
}

TEST(Lars, LocalRateIsOneWhenANormIsZero) {
  expect_near(after("lars", {1, 0.1}, {0, 0}, {3, 4}), {-0.3, -0.4});
  expect_near(after("lars(weight_decay=0.5)", {1, 0.1}, {2}, {0}), {1.9});
}

TEST(Lars, CanLeaveParametersWithoutDecayAlone) {
  const Step bias{.index = 1, .learning_rate = 0.1, .decay_scale = 0, .rate_scale = 2};
  expect_near(after("lars(adapt=decayed)", bias, weights, gradients), {3, -1.2, -5.6});
}

TEST(Lars, KeepsTheLocalRateOldGradientsCameWith) {
  const auto rule = make(optimizers(), "lars(eta=0.5, momentum=0.5, weight_decay=0)", "optimizer");
  std::vector<float> w{2}, v{0};
  const std::vector<std::span<float>> slots{v};
  const auto step = [&](std::int64_t t, float g) { rule->update(w, std::array{g}, slots, {t, 1}); };
  step(1, 4);  // local 0.5 * 2 / 4: v = -1
  EXPECT_FLOAT_EQ(w[0], 1);
  step(2, 2);  // local 0.5 * 1 / 2: v = -0.5 - 0.5
  EXPECT_FLOAT_EQ(w[0], 0);
  EXPECT_FLOAT_EQ(v[0], -1);
}

TEST(KnownAnswer, lamb_first_step_has_the_length_of_the_weights) {
  // u = sign(g) + decay w: (1, 1) + 0.5 (3, 4) = (2.5, 3) if epsilon is negligible
  const double ratio = 5 / std::hypot(2.5, 3.0);
  expect_near(after("lamb(weight_decay=0.5, epsilon=1e-20)", {1, 0.1}, {3, 4}, {0.5, 2}),
              {3 - 0.1 * ratio * 2.5, 4 - 0.1 * ratio * 3});
}

TEST(Lamb, WithoutDecayTheRatioIsOneUnlessAskedFor) {
  const std::vector<double> plain{3 - 0.1, 4 - 0.1},
      adapted{3 - 0.1 * 5 / std::sqrt(2.0), 4 - 0.1 * 5 / std::sqrt(2.0)};
  expect_near(after("lamb(weight_decay=0, epsilon=1e-20)", {1, 0.1}, {3, 4}, {0.5, 2}), plain);
  expect_near(after("lamb(weight_decay=0, epsilon=1e-20, adapt=all)", {1, 0.1}, {3, 4}, {0.5, 2}), adapted);
  const Step bias{.index = 1, .learning_rate = 0.1, .decay_scale = 0};
  expect_near(after("lamb(weight_decay=0.5, epsilon=1e-20)", bias, {3, 4}, {0.5, 2}), plain);
}

TEST(Lamb, RatioIsOneWhenANormIsZero) {
  expect_near(after("lamb(epsilon=1e-20)", {1, 0.1}, {0, 0}, {0.5, -2}), {-0.1, 0.1});
}

TEST(Lamb, BiasCorrectionCanBeLeftOut) {
  // m = 0.5 * 2, v = 0.75 * 4: u = 1 / sqrt(3)
  expect_near(
      after("lamb(beta1=0.5, beta2=0.25, weight_decay=0, epsilon=1e-20, bias_correction=false)", {1, 0.1}, {1}, {2}),
      {1 - 0.1 / std::sqrt(3.0)});
}

TEST(LayerRates, NestedDefaultsAreResolved) {
  Spec resolved;
  make(optimizers(), "larc(base=sgd(lr=2))", "optimizer", &resolved);
  EXPECT_EQ(resolved.str(),
            "larc(base=sgd(lr=2.0, momentum=0.0, nesterov=false, weight_decay=0.0, form=tf), eta=0.002, "
            "fallback=6.25e-05, adapt=all, mode=clip)");
}

}  // namespace
}  // namespace isobar::optim
