// lrn: local response normalisation, as in Caffe (across channels, or within a channel over 2-D space).
//   y = x * s^-beta,  s = k + alpha/V * sum of x^2 over the window around each number,  V elements in a whole window
//   dx = dy * s^-beta - 2*alpha*beta/V * x * (sum of dy * x * s^(-beta-1) over the numbers whose window includes this)
// x [N, spatial..., C]. Windows reach from i - floor((size-1)/2) to i + ceil((size-1)/2), along the channels or along
// both spatial axes. oneDNN has fast loops for only one size and layout, so we use our own loops over lines with zeros
// at both ends, in which a window is a sum of numbers `step` apart.
#include <algorithm>
#include <array>
#include <cmath>

#include "isobar/base/error.hpp"
#include "isobar/base/loops.hpp"
#include "isobar/ops/index_map.hpp"
#include "isobar/ops/lanes.hpp"
#include "isobar/ops/op.hpp"
#include "isobar/ops/primitive.hpp"
#include "isobar/ops/window.hpp"

namespace isobar::ops {
namespace {

using Kind = Slot::Kind;

// sum[i] = line[i] + line[i + step] + ... of `size` numbers; the usual sizes are compiled separately.
template <int fixed>
void add_windows(const float* line, std::int64_t count, std::int64_t step, std::int64_t size, float* sum) {
  const std::int64_t terms = fixed > 0 ? fixed : size;
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) {
    float total = line[i];
    for (std::int64_t j = 1; j < terms; ++j) total += line[i + j * step];
    sum[i] = total;
  }
}

void window_sums(const float* line, std::int64_t count, std::int64_t step, std::int64_t size, float* sum) {
  if (size == 5) add_windows<5>(line, count, step, size, sum);
  else if (size == 3) add_windows<3>(line, count, step, size, sum);
  else add_windows<0>(line, count, step, size, sum);
}

// power[i] = s^-beta and inverse[i] = 1/s of s = k + factor * sum[i]; power may be sum.
void powers(const float* sum, std::int64_t count, float k, float factor, float beta, float* power, float* inverse) {
  if (beta == 0.75f) {  // the usual exponent, without the slow general pow
#pragma omp simd
    for (std::int64_t i = 0; i < count; ++i) {
      const float r = 1 / std::sqrt(k + factor * sum[i]);
      power[i] = r * std::sqrt(r);
      inverse[i] = r * r;
    }
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    const float s = k + factor * sum[i];
    power[i] = std::pow(s, -beta);
    inverse[i] = 1 / s;
  }
}

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
    return {computed(in[0])};
  }

  std::optional<Reach> reach(int axis, std::span<const Shape> in) const override {
    const bool channels = axis == in[0].rank() - 1;
    if (!within_ && channels) return std::nullopt;
    if (!within_ || channels) return same_elements(axis, in);
    Reach reach{{{axis, {}}}};
    const std::int64_t extent = in[0][axis];
    for (std::int64_t i = around_[axis].begin; i < extent - around_[axis].end; ++i) {
      const std::int64_t first = i - before(false);
      reach.in[0].window.push_back({std::max<std::int64_t>(0, first), std::min(extent, first + size_)});
    }
    return reach;
  }

  std::shared_ptr<const Operator> cropped(const Crop& crop) const override {
    if (!within_ || crop.axis == crop.in[0].rank() - 1) return nullptr;
    auto part = std::make_shared<Lrn>(*this);
    Interval& around = part->around_[crop.axis];
    around.begin += crop.out.begin - crop.read[0].begin;
    around.end = crop.read[0].extent() - crop.out.extent() - around.begin;
    return part;
  }

  Kernel forward(const Setting&, std::span<const Operand> in) const override {
    const Layout x = plain(in[0].shape);
    Kernel kernel{"forward", Category::forward_pointwise};
    kernel.flops = work(in[0].shape);
    kernel.reads = {{{Kind::x, 0}, x}};
    kernel.writes = {{{Kind::y, 0}, plain(computed(in[0].shape))}};
    if (is_part()) kernel.writes.push_back({{Kind::temp, 0}, x});
    kernel.run = [op = *this, g = Geometry(in[0].shape, within_), middle = middle(in[0].shape)](
                     const Moment&, std::span<const dnnl::memory> m) {
      const float* const from = floats(m[0]);
      float* const y = floats(m.back());
      if (streams(y, g.lines * g.length, g.length)) op.scale_lines<true>(g, from, y);
      else op.scale_lines<false>(g, from, y);
      if (op.is_part()) middle.pick(y, floats(m[1]), 0);
    };
    return kernel;
  }

  // Across channels, one pass handles a whole line; within channels, a temporary holds the shares of other lines.
  std::vector<Kernel> backward(const Setting&, std::span<const Operand> in) const override {
    if (!in[0].needs_gradient) return {};
    const Layout x = plain(in[0].shape);
    std::vector<Kernel> list;
    Slot gradient{Kind::dy, 0};
    if (is_part()) {
      list = middle(in[0].shape).backward(true);
      gradient = list[0].writes[0].slot = {Kind::temp, 1};
    }
    Kernel kernel{"backward", Category::backward_pointwise};
    kernel.flops = 2 * work(in[0].shape);
    kernel.reads = {{{Kind::x, 0}, x}, {gradient, x}};
    kernel.writes = {{{Kind::dx, 0}, x, 1}};
    if (within_) kernel.writes.push_back({{Kind::temp, 0}, x});
    kernel.run = [op = *this, g = Geometry(in[0].shape, within_)](const Moment&, std::span<const dnnl::memory> m) {
      const float *const from = floats(m[0]), *const dy = floats(m[1]);
      float *const dx = floats(m[2]), *const shares = op.within_ ? floats(m[3]) : nullptr;
      op.over_lines(g, [=, &op, &g](std::int64_t line, Room& room) {
        op.line_powers(g, from, line, room);
        op.split(g, from, dy, line, room, shares ? shares + line * g.length : op.turned_line(g, room), dx);
        if (!shares) op.subtract(g, from, line, room, dx);
      });
      if (!shares) return;
      op.over_lines(g, [=, &op, &g](std::int64_t line, Room& room) {
        op.gather(
            g, shares, line, true, [](float share) { return share; }, op.turned_line(g, room));
        op.subtract(g, from, line, room, dx);
      });
    };
    list.push_back(std::move(kernel));
    return list;
  }

 private:
  // Whether positions are read for which nothing is computed: those around a part of an image.
  bool is_part() const {
    return std::ranges::any_of(around_, [](Interval a) { return a.begin > 0 || a.end > 0; });
  }

  Shape computed(const Shape& x) const {
    Shape y = x;
    for (int axis = 1; axis < 3 && within_; ++axis) y[axis] -= around_[axis].begin + around_[axis].end;
    return y;
  }

  // From x to the positions that are computed.
  IndexMap middle(const Shape& x) const {
    const Shape y = computed(x);
    std::vector<Extents> sources(x.rank());
    for (int axis = 0; axis < x.rank(); ++axis)
      for (std::int64_t i = 0; i < y[axis]; ++i) sources[axis].push_back(i + (within_ ? around_[axis].begin : 0));
    return IndexMap(x, std::move(sources));
  }

  // x as lines: the channels of one position, or one row of an image, whose neighbours in a window are `step` apart.
  struct Geometry {
    Geometry(const Shape& x, bool within)
        : length(within ? x[2] * x[3] : x[-1]),
          step(within ? x[3] : 1),
          height(within ? x[1] : 1),
          lines(x.count() / length) {}
    std::int64_t length, step, height, lines;
  };

  // Memory of one thread: a line with zeros at both ends, and one line each of s^-beta and 1/s.
  struct Room {
    std::vector<float> padded, power, inverse;
  };

  std::int64_t before(bool turned) const { return turned ? size_ - 1 - (size_ - 1) / 2 : (size_ - 1) / 2; }
  double volume() const { return static_cast<double>(within_ ? size_ * size_ : size_); }
  double work(const Shape& x) const { return (2 * volume() + 6) * static_cast<double>(x.count()); }

  template <class Each>
  void over_lines(const Geometry& g, const Each& each) const {
    const auto part = [&](std::int64_t begin, std::int64_t end) {
      const std::size_t length = g.length;
      Room room{std::vector<float>(length + static_cast<std::size_t>((size_ - 1) * g.step)), std::vector<float>(length),
                std::vector<float>(length)};
      for (std::int64_t line = begin; line < end; ++line) each(line, room);
      fence();
    };
    in_parts(g.lines, part, std::max<std::int64_t>(1, loop_part / g.length));
  }

  // The sum of value(x) over the lines of the image that a window around this line reaches.
  template <class Value>
  void gather(const Geometry& g, const float* x, std::int64_t line, bool turned, const Value& value, float* to) const {
    const std::int64_t h = line % g.height, reach = within_ ? size_ - 1 : 0, back = within_ ? before(turned) : 0;
    const std::int64_t first = std::max<std::int64_t>(0, h - back), last = std::min(g.height - 1, h - back + reach);
    for (std::int64_t i = first; i <= last; ++i) {
      const float* const from = x + (line - h + i) * g.length;
      if (i == first) {
#pragma omp simd
        for (std::int64_t e = 0; e < g.length; ++e) to[e] = value(from[e]);
      } else {
#pragma omp simd
        for (std::int64_t e = 0; e < g.length; ++e) to[e] += value(from[e]);
      }
    }
  }

  template <bool past>
  void scale_lines(const Geometry& g, const float* x, float* y) const {
    over_lines(g, [=, this, &g](std::int64_t line, Room& room) {
      line_powers(g, x, line, room);
      const float *const from = x + line * g.length, *const power = room.power.data();
      float* const to = y + line * g.length;
      in_lanes(g.length, [=](auto lanes, std::int64_t i) {
        using L = decltype(lanes);
        store<past, L>(to + i, numbers<L>(from + i) * numbers<L>(power + i));
      });
    });
  }

  // s^-beta and 1/s of one line.
  void line_powers(const Geometry& g, const float* x, std::int64_t line, Room& room) const {
    float* const squares = open_line(g, room, before(false));
    gather(
        g, x, line, false, [](float v) { return v * v; }, squares);
    window_sums(room.padded.data(), g.length, g.step, size_, room.power.data());
    powers(room.power.data(), g.length, static_cast<float>(k_), static_cast<float>(alpha_ / volume()),
           static_cast<float>(beta_), room.power.data(), room.inverse.data());
  }

  // The middle of the padded line, with zeros around it.
  float* open_line(const Geometry& g, Room& room, std::int64_t in_front) const {
    float* const line = room.padded.data() + in_front * g.step;
    std::fill(room.padded.data(), line, 0.0f);
    std::fill(line + g.length, room.padded.data() + room.padded.size(), 0.0f);
    return line;
  }
  float* turned_line(const Geometry& g, Room& room) const { return open_line(g, room, before(true)); }

  // dx = dy * s^-beta, and the shares that every number of the line contributes to those in its window.
  void split(const Geometry& g, const float* x, const float* dy, std::int64_t line, const Room& room, float* shares,
             float* dx) const {
    const float *const from = x + line * g.length, *const up = dy + line * g.length;
    const float *const power = room.power.data(), *const inverse = room.inverse.data();
    float* const to = dx + line * g.length;
#pragma omp simd
    for (std::int64_t i = 0; i < g.length; ++i) {
      const float direct = up[i] * power[i];
      shares[i] = direct * from[i] * inverse[i];
      to[i] = direct;
    }
  }

  // dx -= factor * x * the sum of the shares in the padded line.
  void subtract(const Geometry& g, const float* x, std::int64_t line, Room& room, float* dx) const {
    const auto factor = static_cast<float>(2 * alpha_ * beta_ / volume());
    float* const sum = room.power.data();
    window_sums(room.padded.data(), g.length, g.step, size_, sum);
    const float* const from = x + line * g.length;
    float* const to = dx + line * g.length;
#pragma omp simd
    for (std::int64_t i = 0; i < g.length; ++i) to[i] -= factor * from[i] * sum[i];
  }

  std::int64_t size_;
  double alpha_, beta_, k_;
  bool within_;
  std::array<Interval, 4> around_{};  // within: for every axis, how many positions are only read, at begin and end
};

}  // namespace

extern const OperatorRow lrn{"lrn",
                             "local response normalisation across channels or within them",
                             make_member<Lrn>,
                             {
                                 {"lrn", {{2, 3, 3, 7}}},
                                 {"lrn(size=3, alpha=2, beta=0.5, k=2)", {{3, 2}}},
                                 {"lrn(size=4, alpha=1)", {{1, 2, 6}}},
                                 {"lrn(size=5, alpha=0.5)", {{1, 2, 2, 2, 18}}},
                                 {"lrn(size=3, alpha=2, region=within)", {{2, 4, 5, 3}}},
                                 {"lrn(size=2, alpha=3, beta=1, region=within)", {{1, 3, 4, 2}}},
                             }};

}  // namespace isobar::ops
