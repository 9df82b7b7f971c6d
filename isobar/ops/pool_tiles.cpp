#include "isobar/ops/pool_tiles.hpp"

#include <algorithm>

#include "isobar/base/loops.hpp"
#include "isobar/ops/lanes.hpp"

namespace isobar::ops {

bool PoolTiles::suits(const Shape& x, const Window& w) {
  for (std::size_t a = 0; a < w.kernel.size(); ++a)
    if (w.stride[a] != w.kernel[a] || (w.dilation[a] != 1 && w.kernel[a] != 1) || w.before[a] != 0 ||
        w.out[a] * w.kernel[a] != x[a + 1])
      return false;
  return w.volume() <= 256;
}

PoolTiles::PoolTiles(bool maximum, const Shape& x, const Window& window, float slope)
    : maximum_(maximum), batch_(x[0]), channels_(x[-1]), out_{1, 1, 1}, tile_{1, 1, 1}, slope_(slope) {
  const std::size_t axes = window.kernel.size();
  for (std::size_t a = 0; a < axes; ++a) {
    out_[3 - axes + a] = window.out[a];
    tile_[3 - axes + a] = window.kernel[a];
  }
  for (std::int64_t d = 0; d < tile_[0]; ++d)
    for (std::int64_t h = 0; h < tile_[1]; ++h)
      for (std::int64_t w = 0; w < tile_[2]; ++w)
        offsets_.push_back(((d * out_[1] * tile_[1] + h) * out_[2] * tile_[2] + w) * channels_);
}

template <class Each>
void PoolTiles::over_windows(const Each& each) const {
  const std::int64_t row = out_[2] * tile_[2] * channels_, plane = out_[1] * tile_[1] * row;
  const auto lines = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t l = begin; l < end; ++l) {
      const std::int64_t x = l / out_[1] * tile_[0] * plane + l % out_[1] * tile_[1] * row, y = l * out_[2] * channels_;
      for (std::int64_t w = 0; w < out_[2]; ++w) each(x + w * tile_[2] * channels_, y + w * channels_);
    }
    fence();
  };
  in_parts(batch_ * out_[0] * out_[1], lines, std::max<std::int64_t>(1, loop_part / row));
}

void PoolTiles::forward(const float* x, float* y, std::uint8_t* places) const {
  const std::int64_t* const offsets = offsets_.data();
  const std::int32_t count = offsets_.size();
  const float slope = slope_, share = 1.0f / static_cast<float>(count);
  over_windows([=, this](std::int64_t at, std::int64_t to) {
    const auto fold = [=, this](auto lanes, std::int64_t c) {
      using L = decltype(lanes);
      typename L::Floats value = numbers<L>(x + at + c);
      if (maximum_) {
        typename L::Wholes place{};
        for (std::int32_t k = 1; k < count; ++k) {
          const typename L::Floats next = numbers<L>(x + at + offsets[k] + c);
          place = next > value ? typename L::Wholes{} + k : place;
          value = next > value ? next : value;
        }
        if (places) put_bytes<L>(place, places + to + c);
      } else {
        for (std::int32_t k = 1; k < count; ++k) value += numbers<L>(x + at + offsets[k] + c);
        value *= share;
      }
      numbers<L>(y + to + c) = value > 0 ? value : slope * value;
    };
    in_lanes(channels_, fold);
  });
}

void PoolTiles::backward(const float* dy, const float* y, const std::uint8_t* places, float* dx) const {
  const std::int64_t* const offsets = offsets_.data();
  const std::int32_t count = offsets_.size();
  const float slope = slope_, share = 1.0f / static_cast<float>(count);
  const auto spread = [=, this]<bool past>() {
    over_windows([=, this](std::int64_t at, std::int64_t from) {
      const auto give = [=, this](auto lanes, std::int64_t c) {
        using L = decltype(lanes);
        typename L::Floats dz = numbers<L>(dy + from + c);
        if (slope != 1) dz = numbers<L>(y + from + c) > 0 ? dz : slope * dz;
        if (maximum_) {
          const typename L::Wholes place = wholes<L>(places + from + c);
          for (std::int32_t k = 0; k < count; ++k)
            store<past, L>(dx + at + offsets[k] + c, place == k ? dz : typename L::Floats{});
        } else {
          dz *= share;
          for (std::int32_t k = 0; k < count; ++k) store<past, L>(dx + at + offsets[k] + c, dz);
        }
      };
      in_lanes(channels_, give);
    });
  };
  const std::int64_t numbers_of_y = batch_ * out_[0] * out_[1] * out_[2] * channels_;
  if (streams(dx, numbers_of_y * count, channels_)) spread.template operator()<true>();
  else spread.template operator()<false>();
}

}  // namespace isobar::ops
