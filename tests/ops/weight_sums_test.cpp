// Sums of weight gradients against plain loops: odd sizes, strides, dilation, padding, one to three axes, any threads.
#include "isobar/ops/weight_sums.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "isobar/ops/axis_offsets.hpp"
#include "isobar/ops/tile.hpp"

namespace isobar::ops {
namespace {

using Numbers = std::vector<float>;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

struct Sums {
  Numbers dw, db;
  bool operator==(const Sums&) const = default;
};

// dw as [taps, C, O].
Sums by_loops(const WindowExtents& e, const Numbers& x, const Numbers& dz) {
  Sums sums{Numbers(at(e.taps() * e.channels * e.outputs)), Numbers(at(e.outputs))};
  std::vector<double> dw(sums.dw.size());
  for (std::int64_t p = 0; p < e.batch * e.out[0] * e.out[1] * e.out[2]; ++p) {
    const std::int64_t w = p % e.out[2], h = p / e.out[2] % e.out[1], d = p / e.out[2] / e.out[1] % e.out[0];
    const std::int64_t n = p / e.out[2] / e.out[1] / e.out[0];
    for (std::int64_t o = 0; o < e.outputs; ++o) sums.db[at(o)] += dz[at(p * e.outputs + o)];
    for (std::int64_t k = 0; k < e.taps(); ++k) {
      const std::int64_t kw = k % e.kernel[2], kh = k / e.kernel[2] % e.kernel[1], kd = k / e.kernel[2] / e.kernel[1];
      const std::int64_t xd = d * e.stride[0] + kd * e.dilation[0] - e.before[0];
      const std::int64_t xh = h * e.stride[1] + kh * e.dilation[1] - e.before[1];
      const std::int64_t xw = w * e.stride[2] + kw * e.dilation[2] - e.before[2];
      if (xd < 0 || xh < 0 || xw < 0 || xd >= e.in[0] || xh >= e.in[1] || xw >= e.in[2]) continue;
      const std::int64_t from = (((n * e.in[0] + xd) * e.in[1] + xh) * e.in[2] + xw) * e.channels;
      for (std::int64_t c = 0; c < e.channels; ++c)
        for (std::int64_t o = 0; o < e.outputs; ++o)
          dw[at((k * e.channels + c) * e.outputs + o)] +=
              static_cast<double>(x[at(from + c)]) * dz[at(p * e.outputs + o)];
    }
  }
  for (std::size_t i = 0; i < dw.size(); ++i) sums.dw[i] = static_cast<float>(dw[i]);
  return sums;
}

Layout taps_channels_outputs(const WindowExtents& e) {
  return Layout({e.outputs, e.channels, e.taps()}, Dtype::f32, {1, e.outputs, e.channels * e.outputs});
}

Sums by_tiles(const WindowExtents& e, const Layout& dw, int threads, const Numbers& x, const Numbers& dz) {
  const WeightSums tiles(e, dw);
  constexpr float sentinel = 12345;
  Sums sums{Numbers(at(e.taps() * e.channels * e.outputs) + 1, sentinel), Numbers(at(e.outputs) + 1, sentinel)};
  Numbers scratch(at(tiles.scratch(threads)) + 16, sentinel);
  tiles.run(threads, x.data(), dz.data(), scratch.data(), sums.dw.data(), sums.db.data());
  EXPECT_EQ(sums.dw.back(), sentinel);
  EXPECT_EQ(sums.db.back(), sentinel);
  EXPECT_TRUE(std::all_of(scratch.end() - 16, scratch.end(), [](float v) { return v == sentinel; }));
  sums.dw.pop_back();
  sums.db.pop_back();
  return sums;
}

WindowExtents one_axis(std::int64_t batch, std::int64_t in, std::int64_t channels, std::int64_t outputs,
                       std::int64_t kernel, std::int64_t stride, std::int64_t dilation, std::int64_t pad) {
  WindowExtents e{batch, channels, outputs};
  e.in[2] = in, e.kernel[2] = kernel, e.stride[2] = stride, e.dilation[2] = dilation, e.before[2] = pad;
  e.out[2] = (in + 2 * pad - (kernel - 1) * dilation - 1) / stride + 1;
  return e;
}

// The same along the last `axes` axes.
WindowExtents spread(WindowExtents e, int axes) {
  for (int a = 3 - axes; a < 2; ++a) {
    e.in[a] = e.in[2] + a, e.kernel[a] = e.kernel[2], e.stride[a] = e.stride[2];
    e.dilation[a] = e.dilation[2], e.before[a] = e.before[2];
    e.out[a] = (e.in[a] + 2 * e.before[a] - (e.kernel[a] - 1) * e.dilation[a] - 1) / e.stride[a] + 1;
  }
  return e;
}

Numbers wave(std::int64_t count, float step) {
  Numbers numbers(at(count));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = std::sin(step * static_cast<float>(i % 9973));
  return numbers;
}

void expect_same(const WindowExtents& e, const std::string& name) {
  const std::int64_t inputs = e.batch * e.in[0] * e.in[1] * e.in[2];
  const std::int64_t outputs = e.batch * e.out[0] * e.out[1] * e.out[2];
  const Numbers x = wave(inputs * e.channels, 0.7f), dz = wave(outputs * e.outputs, 1.3f);
  const Sums expected = by_loops(e, x, dz), one = by_tiles(e, taps_channels_outputs(e), 1, x, dz);
  const double bound = 1e-6 * static_cast<double>(outputs) + 1e-4;
  for (std::size_t i = 0; i < expected.dw.size(); ++i) ASSERT_NEAR(one.dw[i], expected.dw[i], bound) << name << i;
  for (std::size_t i = 0; i < expected.db.size(); ++i) ASSERT_NEAR(one.db[i], expected.db[i], bound) << name << i;
  for (const int threads : {2, 3, 5})
    EXPECT_TRUE(by_tiles(e, taps_channels_outputs(e), threads, x, dz) == one) << name << " with " << threads;
}

TEST(WeightSums, AreThoseOfPlainLoops) {
  expect_same(one_axis(2, 9, 3, 5, 4, 1, 1, 0), "1-D ");
  expect_same(one_axis(1, 1300, 17, 33, 3, 1, 1, 1), "a row of several blocks ");
  expect_same(one_axis(1, 1100, 2, 16, 5, 2, 1, 2), "merged taps in several blocks ");
  expect_same(spread(one_axis(3, 13, 31, 48, 3, 1, 1, 1), 2), "2-D ");
  expect_same(spread(one_axis(2, 15, 3, 40, 7, 2, 1, 3), 2), "few channels, strided, padded ");
  expect_same(spread(one_axis(2, 23, 3, 96, 11, 4, 1, 0), 2), "few channels, strided ");
  expect_same(spread(one_axis(1, 16, 20, 130, 5, 2, 1, 2), 2), "five panels ");
  expect_same(spread(one_axis(1, 12, 15, 33, 3, 1, 9, 9), 2), "most taps see only padding ");
  expect_same(spread(one_axis(1, 12, 5, 17, 3, 2, 3, 2), 2), "dilated and strided ");
  expect_same(spread(one_axis(1, 9, 4, 32, 3, 1, 1, 1), 3), "3-D, few channels ");
  expect_same(spread(one_axis(2, 7, 19, 34, 2, 2, 1, 1), 3), "3-D, strided ");
  expect_same(spread(one_axis(1, 6, 1, 1, 6, 1, 1, 0), 3), "one pixel ");
}

TEST(WeightSums, LargeGradientsAreSumsOfTilesOfTheirOwn) {
  expect_same(spread(one_axis(1, 8, 40, 288, 3, 1, 1, 1), 2), "more panels than are packed at a time ");
}

TEST(WeightSums, AreWrittenInBlockedLayouts) {
  const WindowExtents e = spread(one_axis(1, 8, 32, 64, 3, 1, 1, 1), 2);
  const Numbers x = wave(e.in[1] * e.in[2] * e.channels, 0.7f), dz = wave(e.out[1] * e.out[2] * e.outputs, 1.3f);
  const Sums plain_sums = by_tiles(e, taps_channels_outputs(e), 2, x, dz);
  for (const auto tag : {dnnl::memory::format_tag::OIhw16i16o, dnnl::memory::format_tag::Ohwi32o,
                         dnnl::memory::format_tag::Ohwi64o, dnnl::memory::format_tag::hwio}) {
    const Layout layout({e.outputs, e.channels, 3, 3}, Dtype::f32, tag);
    ASSERT_TRUE(WeightSums::fits(layout));
    const Sums blocked = by_tiles(e, layout, 2, x, dz);
    const auto taps = all_sums({axis_offsets(layout, 2), axis_offsets(layout, 3)});
    const auto channels = axis_offsets(layout, 1), outputs = axis_offsets(layout, 0);
    for (std::size_t k = 0; k < taps.size(); ++k)
      for (std::size_t c = 0; c < channels.size(); ++c)
        for (std::size_t o = 0; o < outputs.size(); ++o)
          ASSERT_EQ(blocked.dw[at(taps[k] + channels[c] + outputs[o])],
                    plain_sums.dw[(k * channels.size() + c) * outputs.size() + o]);
  }
}

TEST(WeightSums, LeavePaddingZero) {
  for (const std::int64_t channels : {5, 400}) {  // summed in parts, and not
    const WindowExtents e = spread(one_axis(1, 8, channels, 20, 3, 1, 1, 1), 2);
    const Layout layout({e.outputs, e.channels, 3, 3}, Dtype::f32, dnnl::memory::format_tag::Ohwi32o);
    const Numbers x = wave(e.in[1] * e.in[2] * e.channels, 0.7f), dz = wave(e.out[1] * e.out[2] * e.outputs, 1.3f);
    const WeightSums tiles(e, layout);
    Numbers dw(at(padded_count(layout)), 7.0f), scratch(at(tiles.scratch(2)), 7.0f);
    tiles.run(2, x.data(), dz.data(), scratch.data(), dw.data(), nullptr);
    const Sums expected = by_loops(e, x, dz);
    for (std::int64_t row = 0; row < e.taps() * e.channels; ++row)
      for (std::int64_t o = 0; o < 32; ++o)
        ASSERT_NEAR(dw[at(row * 32 + o)], o < 20 ? expected.dw[at(row * 20 + o)] : 0.0f, 1e-3) << channels << " " << o;
  }
}

TEST(WeightSums, KnowWhichLayoutsFit) {
  using Tag = dnnl::memory::format_tag;
  EXPECT_TRUE(WeightSums::fits(Layout({48, 5, 3, 3}, Dtype::f32, Tag::Ohwi48o)));
  EXPECT_TRUE(WeightSums::fits(Layout({5, 5, 3, 3}, Dtype::f32, Tag::hwio)));
  EXPECT_TRUE(WeightSums::fits(Layout({20, 5, 3, 3}, Dtype::f32, Tag::Ohwi16o)));  // padding becomes zero
  EXPECT_FALSE(WeightSums::fits(Layout({32, 16, 3, 3}, Dtype::f32, Tag::oihw)));
  EXPECT_FALSE(WeightSums::fits(Layout({32, 16, 3, 3}, Dtype::f32, Tag::OIhw16o16i)));
  EXPECT_FALSE(WeightSums::fits(any_layout({32, 16, 3, 3})));
}

}  // namespace
}  // namespace isobar::ops
