#include "isobar/ops/turned_weights.hpp"

#include <numeric>

#include <gtest/gtest.h>

namespace isobar::ops {
namespace {

// Two outputs, one input, five taps; every second tap from the first or second on, in reverse order.
TEST(TurnedWeights, TakesEveryStepThTapBackwards) {
  std::vector<float> w(10);
  std::iota(w.begin(), w.end(), 0.f);
  std::vector<float> even(6), odd(4);
  TurnedWeights(plain({2, 1, 5}), plain({1, 2, 3}), {0}, {2}).copy(w.data(), even.data());
  TurnedWeights(plain({2, 1, 5}), plain({1, 2, 2}), {1}, {2}).copy(w.data(), odd.data());
  EXPECT_EQ(even, (std::vector<float>{4, 2, 0, 9, 7, 5}));
  EXPECT_EQ(odd, (std::vector<float>{3, 1, 8, 6}));
}

// Blocks of 16 contain padding, which must be zero.
TEST(TurnedWeights, ClearsThePaddingOfBlocks) {
  const std::vector<float> w{1, 2, 3};  // three outputs, one input, one tap
  const Layout blocked({1, 3, 1}, Dtype::f32, dnnl::memory::format_tag::Acb16a);
  std::vector<float> turned(static_cast<std::size_t>(padded_count(blocked)), 9.f);
  TurnedWeights(plain({3, 1, 1}), blocked, {0}, {1}).copy(w.data(), turned.data());
  ASSERT_EQ(turned.size(), 48u);
  for (std::size_t i = 0; i < turned.size(); ++i) EXPECT_EQ(turned[i], i % 16 == 0 ? w[i / 16] : 0.f) << i;
}

// Blocks of 32 are turned in squares, the rest one by one.
TEST(TurnedWeights, TurnsBlocks) {
  using Tag = dnnl::memory::format_tag;
  const std::int64_t outputs = 56, inputs = 35, taps = 3;
  const Layout stored({outputs, inputs, taps}, Dtype::f32, Tag::Acb32a);
  const Layout turned({inputs, outputs, taps}, Dtype::f32, Tag::Acb32a);
  std::vector<float> w(static_cast<std::size_t>(padded_count(stored)));
  std::iota(w.begin(), w.end(), 0.f);
  std::vector<float> result(static_cast<std::size_t>(padded_count(turned)), -1.f);
  TurnedWeights(stored, turned, {0}, {1}).copy(w.data(), result.data());
  const auto at = [&](std::int64_t a, std::int64_t b, std::int64_t t, std::int64_t depth) {
    return static_cast<std::size_t>(((a / 32 * taps + t) * depth + b) * 32 + a % 32);
  };
  for (std::int64_t t = 0; t < taps; ++t)
    for (std::int64_t o = 0; o < outputs; ++o)
      for (std::int64_t i = 0; i < inputs; ++i)
        ASSERT_EQ(result[at(i, o, t, outputs)], w[at(o, i, taps - 1 - t, inputs)]) << o << " " << i << " " << t;
}

}  // namespace
}  // namespace isobar::ops
