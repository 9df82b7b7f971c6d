#include "isobar/ops/pieces.hpp"

#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "isobar/tensor/engine.hpp"

namespace isobar::ops {
namespace {

std::vector<float> counted(std::int64_t count, float first) {
  std::vector<float> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

dnnl::memory seen(const Layout& layout, std::vector<float>& numbers) {
  return dnnl::memory(layout, cpu_engine(), numbers.data());
}

// The channels [4, 4 + channels) of rows of `pitch`, and a dense tensor, with and without the slope of a relu.
void check(std::int64_t rows, std::int64_t channels, std::int64_t pitch, float slope) {
  const Shape shape{1, rows, channels};
  std::vector<float> wide = counted(rows * pitch, 1), dense = counted(shape.count(), -3), to(dense.size()), y = to;
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = i % 3 == 0 ? -1.0f : 1.0f;
  const std::vector<dnnl::memory> pieces{seen(channels_last(shape), dense), seen(piece_layout(shape, 4, pitch), wide)};
  add_pieces(pieces, y.data(), slope, to.data());
  const auto expected = [&](std::size_t i) {
    const auto row = static_cast<std::int64_t>(i) / channels, c = static_cast<std::int64_t>(i) % channels;
    return (dense[i] + wide[static_cast<std::size_t>(row * pitch + 4 + c)]) * (y[i] > 0 ? 1 : slope);
  };
  for (std::size_t i = 0; i < to.size(); ++i) ASSERT_FLOAT_EQ(to[i], expected(i)) << i;
  add_pieces(pieces, nullptr, 1, to.data());
  for (std::size_t i = 0; i < to.size(); ++i) ASSERT_FLOAT_EQ(to[i], (y[i] = 1, expected(i))) << i;
}

TEST(Pieces, AreAddedWhereTheyLie) {
  check(7, 5, 11, 0);
  check(1, 5, 9, 0.5f);
  check(40, 48, 64, 0.25f);
}

TEST(Pieces, MayBeLargerThanTheCaches) { check(std::int64_t{1} << 17, 64, 80, 0); }

TEST(Pieces, MayBeOverwritten) {
  std::vector<float> a = counted(33, 0), b = counted(33, 5);
  const Shape shape{3, 11};
  const std::vector<dnnl::memory> pieces{seen(plain(shape), a), seen(plain(shape), b), seen(plain(shape), b)};
  add_pieces(pieces, nullptr, 1, a.data());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i], static_cast<float>(i) + 2 * static_cast<float>(i + 5));
}

TEST(Pieces, OfBlockedWeightsKeepTheirPadding) {
  const Layout blocked({3, 5}, Dtype::f32, dnnl::memory::format_tag::AB16b16a);
  std::vector<float> a(256, 1), b(256, 2), to(256);
  const std::vector<dnnl::memory> pieces{seen(blocked, a), seen(blocked, b)};
  add_pieces(pieces, nullptr, 1, to.data());
  EXPECT_EQ(to, std::vector<float>(256, 3));
}

}  // namespace
}  // namespace isobar::ops
