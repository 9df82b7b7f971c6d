#include "isobar/ops/pool_tiles.hpp"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "isobar/tensor/tensor.hpp"

namespace isobar::ops {
namespace {

Window halves(const Shape& x) {
  Window w;
  for (int a = 1; a + 1 < x.rank(); ++a) {
    for (auto* extents : {&w.kernel, &w.stride}) extents->push_back(2);
    w.dilation.push_back(1);
    for (auto* extents : {&w.before, &w.after, &w.overhang}) extents->push_back(0);
    w.out.push_back(x[a] / 2);
  }
  return w;
}

float number(std::int64_t i) { return static_cast<float>(i * 7919 % 1009) / 500 - 1; }

// Compares each output with the four numbers under its window, and the gradient of each of these with its share of dy.
void check_image(bool maximum, const Shape& shape, float slope) {
  const Tensor x(shape), y({shape[0], shape[1] / 2, shape[2] / 2, shape[3]}), dy(y.shape()), dx(shape);
  for (std::int64_t i = 0; i < x.count(); ++i) x.data()[i] = number(i);
  for (std::int64_t i = 0; i < y.count(); ++i) dy.data()[i] = number(3 * i + 1);
  std::vector<std::uint8_t> places(static_cast<std::size_t>(y.count()));
  const PoolTiles pool(maximum, shape, halves(shape), slope);
  pool.forward(x.data(), y.data(), places.data());
  pool.backward(dy.data(), y.data(), places.data(), dx.data());

  const std::int64_t channels = shape[3], row = shape[2] * channels;
  for (std::int64_t i = 0; i < y.count(); ++i) {
    const std::int64_t line = i / channels / (shape[2] / 2), column = i / channels % (shape[2] / 2);
    const std::int64_t first = 2 * line * row + 2 * column * channels + i % channels;
    const std::int64_t at[4] = {first, first + channels, first + row, first + row + channels};
    float sum = 0, best = x.data()[first];
    for (const std::int64_t k : at) sum += x.data()[k], best = std::max(best, x.data()[k]);
    const float z = maximum ? best : sum / 4;
    ASSERT_FLOAT_EQ(y.data()[i], z > 0 ? z : slope * z) << i;
    const float dz = (y.data()[i] > 0 ? 1 : slope) * dy.data()[i];
    const std::int64_t* const winner = std::find_if(at, at + 4, [&](std::int64_t k) { return x.data()[k] == best; });
    for (const std::int64_t& k : at) ASSERT_FLOAT_EQ(dx.data()[k], !maximum ? dz / 4 : &k == winner ? dz : 0.0f) << i;
  }
}

TEST(PoolTiles, AreTheNumbersUnderTheWindows) {
  for (const bool maximum : {true, false})
    for (const float slope : {1.0f, 0.0f, 0.3f})
      for (const std::int64_t channels : {3, 16, 37}) check_image(maximum, {2, 6, 8, channels}, slope);
}

TEST(PoolTiles, AreTheSameWhenWrittenPastTheCaches) { check_image(true, {1, 1024, 512, 16}, 0.0f); }

TEST(PoolTiles, AreForWindowsThatHoldEveryNumberOnce) {
  const Shape x{1, 6, 8, 3};
  EXPECT_TRUE(PoolTiles::suits(x, halves(x)));
  EXPECT_FALSE(PoolTiles::suits({1, 7, 8, 3}, halves(x)));
  Window w = halves(x);
  w.stride = {1, 2};
  EXPECT_FALSE(PoolTiles::suits(x, w));
  w = halves(x);
  w.dilation = {2, 1};
  EXPECT_FALSE(PoolTiles::suits(x, w));
  w = halves(x);
  w.before = {1, 0};
  EXPECT_FALSE(PoolTiles::suits(x, w));
}

}  // namespace
}  // namespace isobar::ops
