#include "isobar/tensor/initializer.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

namespace isobar {
namespace {

std::vector<float> made(const Spec& spec, const Shape& shape, std::uint64_t seed = 1) {
  std::vector<float> out(static_cast<std::size_t>(shape.count()));
  initialize(spec, shape, seed, out);
  return out;
}

struct Moments {
  double mean = 0, deviation = 0, least = 0, most = 0;
};

Moments moments(const std::vector<float>& v) {
  Moments m;
  m.mean = std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size());
  for (const float x : v) m.deviation += (x - m.mean) * (x - m.mean) / static_cast<double>(v.size());
  m.deviation = std::sqrt(m.deviation);
  m.least = *std::ranges::min_element(v);
  m.most = *std::ranges::max_element(v);
  return m;
}

TEST(Initializer, FansOfConvolutionAndDense) {
  EXPECT_EQ(fans({32, 4, 3, 3, 3}).in, 4 * 27);
  EXPECT_EQ(fans({32, 4, 3, 3, 3}).out, 32 * 27);
  EXPECT_EQ(fans({128, 300}).in, 300);
  EXPECT_EQ(fans({128, 300}).out, 128);
  EXPECT_EQ(fans({7}).in, 1);
}

// 120,000 numbers: the mean is within 5 standard errors, the deviation within 2 %.
TEST(Initializer, LawsHaveTheirMoments) {
  const Shape shape{300, 400};
  const double in = 400, out = 300;
  const struct {
    const char* spec;
    double mean, deviation, bound;
  } cases[] = {
      {"constant(value=0.1)", 0.1, 0, 0},
      {"uniform(low=1, high=3)", 2, 1 / std::sqrt(3.0), 1},
      {"gaussian(mean=2, std=0.5)", 2, 0.5, INFINITY},
      {"truncated_normal(std=0.1)", 0, 0.1 * 0.87962566, 0.2},
      {"glorot_uniform", 0, std::sqrt(2 / (in + out)), std::sqrt(6 / (in + out))},
      {"glorot_normal", 0, std::sqrt(2 / (in + out)), INFINITY},
      {"he_uniform", 0, std::sqrt(2 / in), std::sqrt(6 / in)},
      {"he_normal", 0, std::sqrt(2 / in), INFINITY},
      {"torch_uniform", 0, std::sqrt(1 / in / 3), std::sqrt(1 / in)},
      {"variance_scaling", 0, std::sqrt(2.6 / in) * 0.87962566, 2 * std::sqrt(2.6 / in)},
      {"xavier_caffe", 0, std::sqrt(1 / in), std::sqrt(3 / in)},
  };
  EXPECT_EQ(std::size(cases), initializers().size()) << "every law is tested";
  for (const auto& c : cases) {
    const Moments m = moments(made(c.spec, shape));
    EXPECT_NEAR(m.mean, c.mean, 5 * c.deviation / std::sqrt(120000.0) + 1e-7) << c.spec;
    EXPECT_NEAR(m.deviation, c.deviation, 0.02 * c.deviation + 1e-7) << c.spec;
    EXPECT_GE(m.least, c.mean - c.bound - 1e-6) << c.spec;
    EXPECT_LE(m.most, c.mean + c.bound + 1e-6) << c.spec;
  }
}

TEST(Initializer, DependsOnSeedAndIndexOnly) {
  EXPECT_EQ(made("gaussian", {10, 10}), made("gaussian", {10, 10}));
  EXPECT_NE(made("gaussian", {10, 10}, 1), made("gaussian", {10, 10}, 2));
  const auto shorter = made("uniform", {50}), longer = made("uniform", {80});
  EXPECT_TRUE(std::equal(shorter.begin(), shorter.end(), longer.begin()));
}

TEST(Initializer, RefusesNonsense) {
  EXPECT_THROW(made("gaussian(std=-1)", {4}), UsageError);
  EXPECT_THROW(made("uniform(low=2, high=1)", {4}), UsageError);
  EXPECT_THROW(made("glorott", {4}), UsageError);
  EXPECT_THROW(made("constant(val=1)", {4}), UsageError);
}

TEST(Initializer, FansCanBeCountedFromAnotherShape) {
  std::vector<float> out(2 * 12 * 5);
  initialize("glorot_uniform", {2, 12, 5}, 1, out, {12, 5});
  const double limit = std::sqrt(6.0 / 17);
  double largest = 0;
  for (const float v : out) largest = std::max(largest, std::abs(double{v}));
  EXPECT_LE(largest, limit);
  EXPECT_GT(largest, 0.9 * limit);
}

}  // namespace
}  // namespace isobar
