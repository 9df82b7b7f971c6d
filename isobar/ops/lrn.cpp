// lrn: local response normalisation, as in Caffe (across channels, or within a channel over 2-D space).
//   y = x * s^-beta,  s = k + alpha/V * sum of x^2 over the window around each number,  V elements in a whole window
//   dx = dy * s^-beta - 2*alpha*beta/V * x * (sum of dy * x * s^(-beta-1) over the numbers whose window holds this one)
// x [N, spatial..., C]. Windows reach from i - floor((size-1)/2) to i + ceil((size-1)/2), along the channels or along
// both spatial axes. oneDNN has fast loops for one size and one layout only, so the loops are our own.
#include <algorithm>
#include <cmath>

#include "isobar/base/error.hpp"
#include "isobar/ops/loops.hpp"
#include "isobar/ops/op.hpp"
#include "isobar/ops/primitive.hpp"

namespace isobar::ops {
namespace {

using Kind = Slot::Kind;

class Lrn final : public Operator {
 public:
  explicit Lrn(Args& args)
      : size_(args.integer("size", 5)),
        alpha_(args.real("alpha", 1e-4)),
        beta_(args.real("beta", 0.75)),
        k_(args.real("k", 1)),
        within_(args.one_of("region", "across", {"across", "within"}) == "within") {
    args.require(size_ >= 1, "size must be at least 1");
    args.require(k_ > 0, "k must be above 0");
  }

  std::vector<Shape> infer(std::span<const Shape> in) const override {
    if (in[0].rank() < 2) fail("x = {} must be [batch, ..., channels]", in[0].str());
    if (within_ && in[0].rank() != 4) fail("x = {} must be [batch, height, width, channels]", in[0].str());
    return {in[0]};
  }

  Kernel forward(const Setting&, std::span<const Operand> in) const override {
    const Layout x = plain(in[0].shape);
    Kernel kernel{"forward", Category::forward_pointwise};
    kernel.flops = work(in[0].shape);
    kernel.reads = {{{Kind::x, 0}, x}};
    kernel.writes = {{{Kind::y, 0}, x}};
    kernel.run = [op = *this, g = Geometry(in[0].shape)](const Moment&, std::span<const dnnl::memory> m) {
      const float* const from = floats(m[0]);
      float* const y = floats(m[1]);
      op.over_rows(g, [=, &op, &g](std::int64_t row, float* power, float*) {
        op.powers(g, from, row, power, nullptr);
#pragma omp simd
        for (std::int64_t c = 0; c < g.channels; ++c) y[row * g.channels + c] = from[row * g.channels + c] * power[c];
      });
    };
    return kernel;
  }

  std::vector<Kernel> backward(const Setting&, std::span<const Operand> in) const override {
    if (!in[0].needs_gradient) return {};
    const Layout x = plain(in[0].shape);
    Kernel kernel{"backward", Category::backward_pointwise};
    kernel.flops = 2 * work(in[0].shape);
    kernel.reads = {{{Kind::x, 0}, x}, {{Kind::dy, 0}, x}};
    kernel.writes = {{{Kind::dx, 0}, x, 1}, {{Kind::temp, 0}, x}};
    kernel.run = [op = *this, g = Geometry(in[0].shape)](const Moment&, std::span<const dnnl::memory> m) {
      const float *const from = floats(m[0]), *const dy = floats(m[1]);
      float *const dx = floats(m[2]), *const share = floats(m[3]);
      op.over_rows(g, [=, &op, &g](std::int64_t row, float* power, float* sum) {
        op.powers(g, from, row, power, sum);
        const std::int64_t first = row * g.channels;
#pragma omp simd
        for (std::int64_t c = 0; c < g.channels; ++c) {
          const float direct = dy[first + c] * power[c];
          share[first + c] = direct * from[first + c] / sum[c];
          dx[first + c] = direct;
        }
      });
      const auto factor = static_cast<float>(2 * op.alpha_ * op.beta_ / op.volume());
      op.over_rows(g, [=, &op, &g](std::int64_t row, float* sum, float*) {
        op.window_sum(
            g, row, true, [=](std::int64_t i) { return share[i]; }, sum);
        const std::int64_t first = row * g.channels;
#pragma omp simd
        for (std::int64_t c = 0; c < g.channels; ++c) dx[first + c] -= factor * from[first + c] * sum[c];
      });
    };
    return {kernel};
  }

 private:
  // x as rows of channels; rows of an image lie `width` apart.
  struct Geometry {
    explicit Geometry(const Shape& x)
        : rows(x.count() / x[-1]), height(x.rank() == 4 ? x[1] : 1), width(x.rank() == 4 ? x[2] : 1), channels(x[-1]) {}
    std::int64_t rows, height, width, channels;
  };

  double volume() const { return static_cast<double>(within_ ? size_ * size_ : size_); }
  double work(const Shape& x) const { return (2 * volume() + 6) * static_cast<double>(x.count()); }

  // Calls each(row, a, b) for all rows in parallel; a and b have room for one number per channel.
  template <class Each>
  void over_rows(const Geometry& g, const Each& each) const {
    const auto part = [&](std::int64_t begin, std::int64_t end) {
      std::vector<float> room(static_cast<std::size_t>(2 * g.channels));
      for (std::int64_t row = begin; row < end; ++row) each(row, room.data(), room.data() + g.channels);
    };
    in_parts(g.rows, part, std::max<std::int64_t>(1, loop_part / g.channels));
  }

  // sum[c] = sum of value(i) over the window around each number of a row; `turned`: over all whose window holds it.
  template <class Value>
  void window_sum(const Geometry& g, std::int64_t row, bool turned, const Value& value, float* sum) const {
    const std::int64_t less = (size_ - 1) / 2, more = size_ - 1 - less;
    const std::int64_t before = turned ? more : less, after = turned ? less : more;
    std::fill_n(sum, g.channels, 0.0f);
    if (!within_) {
      for (std::int64_t j = -before; j <= after; ++j) {
        const std::int64_t begin = std::max<std::int64_t>(0, -j), end = std::min(g.channels, g.channels - j);
        for (std::int64_t c = begin; c < end; ++c) sum[c] += value(row * g.channels + c + j);
      }
      return;
    }
    const std::int64_t image = row / (g.height * g.width), h = row / g.width % g.height, w = row % g.width;
    for (std::int64_t i = std::max<std::int64_t>(0, h - before); i <= std::min(g.height - 1, h + after); ++i)
      for (std::int64_t j = std::max<std::int64_t>(0, w - before); j <= std::min(g.width - 1, w + after); ++j) {
        const std::int64_t first = ((image * g.height + i) * g.width + j) * g.channels;
        for (std::int64_t c = 0; c < g.channels; ++c) sum[c] += value(first + c);
      }
  }

  // power = s^-beta for one row, and s itself where asked for.
  void powers(const Geometry& g, const float* x, std::int64_t row, float* power, float* s) const {
    window_sum(
        g, row, false, [=](std::int64_t i) { return x[i] * x[i]; }, power);
    const auto factor = static_cast<float>(alpha_ / volume()), k = static_cast<float>(k_);
    for (std::int64_t c = 0; c < g.channels; ++c) power[c] = k + factor * power[c];
    if (s) std::copy_n(power, g.channels, s);
    if (beta_ == 0.75) {  // the usual exponent, without the slow general power
#pragma omp simd
      for (std::int64_t c = 0; c < g.channels; ++c) {
        const float root = std::sqrt(power[c]);
        power[c] = 1 / (root * std::sqrt(root));
      }
    } else {
      for (std::int64_t c = 0; c < g.channels; ++c) power[c] = std::pow(power[c], static_cast<float>(-beta_));
    }
  }

  std::int64_t size_;
  double alpha_, beta_, k_;
  bool within_;
};

}  // namespace

extern const OperatorRow lrn;
const OperatorRow lrn{"lrn", "local response normalisation across channels or within them",
                      [](Args& args) -> std::unique_ptr<Operator> { return std::make_unique<Lrn>(args); },
                      [] {
                        return std::vector<Problem>{
                            {"lrn", {{2, 3, 3, 7}}},
                            {"lrn(size=3, alpha=2, beta=0.5, k=2)", {{3, 2}}},
                            {"lrn(size=4, alpha=1)", {{1, 2, 6}}},
                            {"lrn(size=5, alpha=0.5)", {{1, 2, 2, 2, 18}}},
                            {"lrn(size=3, alpha=2, region=within)", {{2, 4, 5, 3}}},
                            {"lrn(size=2, alpha=3, beta=1, region=within)", {{1, 3, 4, 2}}},
                        };
                      }};

}  // namespace isobar::ops
