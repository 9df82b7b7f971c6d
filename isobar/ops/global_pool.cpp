// global_pool: the mean or the maximum over all spatial positions, per channel.
//   average: y[n, c] = 1/S * sum over s of x[n, s, c];  dx[n, s, c] = dy[n, c] / S
//   max:     y[n, c] = max over s of x[n, s, c];  dx[n, s, c] = dy[n, c] at the first s of the maximum, otherwise 0
// x [N, spatial..., C] with S positions in all, y [N, C]. The place of each maximum is saved.
#include <algorithm>
#include <array>

#include "isobar/base/error.hpp"
#include "isobar/base/loops.hpp"
#include "isobar/ops/op.hpp"
#include "isobar/ops/primitive.hpp"

namespace isobar::ops {
namespace {

using Kind = Slot::Kind;

constexpr std::int64_t channel_block = 64;

// Calls block(n, first channel, number of channels) for every row and block of channels, in parallel.
template <class Block>
void over_channels(std::int64_t rows, std::int64_t channels, Block&& block) {
  const std::int64_t blocks = (channels + channel_block - 1) / channel_block;
  in_parts(
      rows * blocks,
      [&](std::int64_t i, std::int64_t) {
        const std::int64_t first = i % blocks * channel_block;
        block(i / blocks, first, std::min(channel_block, channels - first));
      },
      1);
}

class GlobalPool final : public Operator {
 public:
  explicit GlobalPool(Args& args) {
    const std::string kind = args.text("kind", "average");
    args.require(kind == "average" || kind == "max", "kind must be average or max");
    max_ = kind == "max";
  }

  bool selects_maximum() const override { return max_; }

  std::vector<Shape> infer(std::span<const Shape> in) const override {
    if (in[0].rank() < 3) fail("x = {} must be [batch, spatial..., channels]", in[0].str());
    return {Shape{in[0][0], in[0][-1]}};
  }

  // The only axis after the samples is that of the channels, x's last.
  std::optional<Reach> reach(int, std::span<const Shape> in) const override {
    return same_elements(in[0].rank() - 1, in);
  }

  Kernel forward(const Setting& setting, std::span<const Operand> in) const override {
    const Case p = fitted(in[0].shape);
    Kernel kernel{"forward", Category::forward_pointwise};
    kernel.reads = {{{Kind::x, 0}, plain(in[0].shape)}};
    kernel.writes = {{{Kind::y, 0}, plain({p.rows, p.channels})}};
    kernel.flops = static_cast<double>(in[0].shape.count());
    if (!max_) {
      kernel.run = [p](const Moment&, std::span<const dnnl::memory> m) { average(p, floats(m[0]), floats(m[1])); };
      return kernel;
    }
    const bool saves = setting.phase == Phase::training;
    if (saves) kernel.writes.push_back({{Kind::saved, 0}, plain({p.rows, p.channels}, Dtype::s32)});
    kernel.run = [p, saves](const Moment&, std::span<const dnnl::memory> m) {
      maximum(p, floats(m[0]), floats(m[1]), saves ? static_cast<std::int32_t*>(m[2].get_data_handle()) : nullptr);
    };
    return kernel;
  }

  std::vector<Kernel> backward(const Setting&, std::span<const Operand> in) const override {
    if (!in[0].needs_gradient) return {};
    const Case p = fitted(in[0].shape);
    Kernel kernel{"backward", Category::backward_pointwise};
    kernel.reads = {{{Kind::dy, 0}, plain({p.rows, p.channels})}};
    kernel.writes = {{{Kind::dx, 0}, plain(in[0].shape)}};
    kernel.flops = static_cast<double>(in[0].shape.count());
    if (max_) kernel.reads.push_back({{Kind::saved, 0}, plain({p.rows, p.channels}, Dtype::s32)});
    kernel.run = [p, max = max_](const Moment&, std::span<const dnnl::memory> m) {
      spread(p, floats(m[0]), max ? static_cast<const std::int32_t*>(m[1].get_data_handle()) : nullptr,
             floats(m.back()));
    };
    return {kernel};
  }

 private:
  struct Case {
    std::int64_t rows, positions, channels;
  };

  static Case fitted(const Shape& x) { return {x[0], x.count(1, x.rank() - 1), x[-1]}; }

  static void average(const Case& p, const float* x, float* y) {
    over_channels(p.rows, p.channels, [&](std::int64_t n, std::int64_t first, std::int64_t count) {
      std::array<double, channel_block> sums{};
      for (std::int64_t s = 0; s < p.positions; ++s) {
        const float* from = x + (n * p.positions + s) * p.channels + first;
        for (std::int64_t c = 0; c < count; ++c) sums[c] += from[c];
      }
      for (std::int64_t c = 0; c < count; ++c)
        y[n * p.channels + first + c] = static_cast<float>(sums[c] / static_cast<double>(p.positions));
    });
  }

  static void maximum(const Case& p, const float* x, float* y, std::int32_t* places) {
    over_channels(p.rows, p.channels, [&](std::int64_t n, std::int64_t first, std::int64_t count) {
      const float* row = x + n * p.positions * p.channels + first;
      float* best = y + n * p.channels + first;
      std::array<std::int32_t, channel_block> found{};
      std::copy_n(row, count, best);
      for (std::int64_t s = 1; s < p.positions; ++s)
        for (std::int64_t c = 0; c < count; ++c) {
          const bool larger = row[s * p.channels + c] > best[c];
          best[c] = larger ? row[s * p.channels + c] : best[c];
          auto& place = found[c];
          place = larger ? static_cast<std::int32_t>(s) : place;
        }
      if (places) std::copy_n(found.begin(), count, places + n * p.channels + first);
    });
  }

  // Every position receives its share of dy: 1/S, or with `places` all or nothing.
  static void spread(const Case& p, const float* dy, const std::int32_t* places, float* dx) {
    const float share = 1.0f / static_cast<float>(p.positions);
    const auto rows = [=](std::int64_t begin, std::int64_t end) {
      for (std::int64_t r = begin; r < end; ++r) {
        const std::int64_t n = r / p.positions * p.channels, s = r % p.positions;
        for (std::int64_t c = 0; c < p.channels; ++c)
          dx[r * p.channels + c] = places ? (places[n + c] == s ? dy[n + c] : 0.0f) : share * dy[n + c];
      }
    };
    in_parts(p.rows * p.positions, rows, std::max<std::int64_t>(1, loop_part / p.channels));
  }

  bool max_ = false;
};

}  // namespace

extern const OperatorRow global_pool{"global_pool",
                                     "the mean or the maximum over all positions",
                                     make_member<GlobalPool>,
                                     {{"global_pool", {{2, 3, 4, 5}}},
                                      {"global_pool", {{1, 3, 2, 2, 70}}},
                                      {"global_pool(kind=max)", {{2, 3, 4, 5}}},
                                      {"global_pool(kind=max)", {{1, 7, 70}}}}};

}  // namespace isobar::ops
