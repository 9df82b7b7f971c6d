// Depthwise convolutions (groups = channels = filters), forward and backward. For gradients of channels-last tensors
// with dilation, oneDNN 2.6 has no fast kernel and processes them number by number; there is little to compute, so
// memory should be the limit. Weights and their gradient are [taps, C] in memory.
#include <algorithm>
#include <cstring>
#include <memory>
#include <type_traits>

#include "isobar/base/loops.hpp"
#include "isobar/ops/conv_methods.hpp"
#include "isobar/ops/lanes.hpp"
#include "isobar/ops/primitive.hpp"

namespace isobar::ops {
namespace {

using Kind = Slot::Kind;

// The layout of the weights: axes C, 1, 1, kernel...
Layout depthwise_layout(const ConvCase& p) {
  const std::int64_t channels = p.x[-1];
  Extents axes{channels, 1, 1}, strides{1, channels, channels};
  std::int64_t stride = channels;
  for (std::size_t a = p.window.kernel.size(); a-- > 0; stride *= p.window.kernel[a]) {
    axes.insert(axes.begin() + 3, p.window.kernel[a]);
    strides.insert(strides.begin() + 3, stride);
  }
  return Layout(axes, Dtype::f32, strides);
}

constexpr int most_vectors = 4;                    // sums of this many are held in registers
constexpr std::int64_t most_depthwise_parts = 16;  // of the sum of a weight gradient

// sum += factor * numbers, for V vectors of L.
template <class L, int V>
struct DepthwiseSum {
  typename L::Floats value[V];
  explicit DepthwiseSum(const float* start) {
    for (int v = 0; v < V; ++v) value[v] = start ? numbers<L>(start + v * L::lanes) : typename L::Floats{};
  }
  void add(const float* a, const float* b) {
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) value[v] += numbers<L>(a + v * L::lanes) * numbers<L>(b + v * L::lanes);
  }
  void add(const float* a) {
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) value[v] += numbers<L>(a + v * L::lanes);
  }
  void put(float* to) const {
    for (int v = 0; v < V; ++v) numbers<L>(to + v * L::lanes) = value[v];
  }
};

template <>
struct DepthwiseSum<One, 1> {
  float value;
  explicit DepthwiseSum(const float* start) : value(start ? *start : 0) {}
  void add(const float* a, const float* b) { value += *a * *b; }
  void add(const float* a) { value += *a; }
  void put(float* to) const { *to = value; }
};

// Calls f(first channel, the type of a sum) for ranges of whole vectors, then for the remaining channels.
template <class L, class F>
inline void over_vectors(std::int64_t channels, const F& f) {
  constexpr std::int64_t stretch = L::lanes * most_vectors;
  std::int64_t c = 0;
  for (; c + stretch <= channels; c += stretch) f(c, std::type_identity<DepthwiseSum<L, most_vectors>>());
  for (; c + L::lanes <= channels; c += L::lanes) f(c, std::type_identity<DepthwiseSum<L, 1>>());
  for (; c < channels; ++c) f(c, std::type_identity<DepthwiseSum<One, 1>>());
}

template <class F>
inline void over_channels(std::int64_t channels, const F& f) {
  if (instructions() == Instructions::v4) over_vectors<Sixteen>(channels, f);
  else over_vectors<Eight>(channels, f);
}

// A position of the source that meets a position of the target, and the tap.
struct Meeting {
  std::int64_t tap, source;
};
using Meetings = std::vector<std::vector<Meeting>>;

// y as target of x, or x as target of y; spatial axes are d, h, w, and missing leading axes have extent 1.
struct Correspondence {
  std::int64_t batch, channels, target[3], source[3], kernel[3];
  Meetings meetings[3];
  struct Pair {
    std::int64_t target, source;
  };
  std::vector<std::vector<Pair>> pairs;  // for every tap along w, the columns that meet

  Correspondence(const ConvCase& p, bool backwards) : batch(p.x[0]), channels(p.x[-1]) {
    const int missing = 3 - std::ssize(p.window.kernel);
    for (int at = 0; at < 3; ++at) {
      const int axis = at - missing;
      const std::size_t a = axis;
      const bool is_missing = axis < 0;
      const std::int64_t in = is_missing ? 1 : p.x[axis + 1], out = is_missing ? 1 : p.y[axis + 1];
      const std::int64_t stride = is_missing ? 1 : p.window.stride[a], gap = is_missing ? 1 : p.window.dilation[a];
      const std::int64_t before = is_missing ? 0 : p.window.before[a];
      kernel[at] = is_missing ? 1 : p.window.kernel[a];
      target[at] = backwards ? in : out;
      source[at] = backwards ? out : in;
      meetings[at].resize(target[at]);
      for (std::int64_t o = 0; o < out; ++o)
        for (std::int64_t k = 0; k < kernel[at]; ++k) {
          const std::int64_t i = o * stride + k * gap - before;
          if (i < 0 || i >= in) continue;
          meetings[at][backwards ? i : o].push_back({k, backwards ? o : i});
        }
    }
    pairs.resize(kernel[2]);
    for (std::int64_t w = 0; w < target[2]; ++w)
      for (const Meeting& m : meetings[2][w]) pairs[m.tap].push_back({w, m.source});
  }

  std::int64_t rows() const { return batch * target[0] * target[1]; }

  // Calls f(first tap of a row of the window, row of the source) for all rows that row `row` of the target meets.
  template <class F>
  void over_rows(std::int64_t row, const float* from, const F& f) const {
    const std::int64_t h = row % target[1], d = row / target[1] % target[0], n = row / target[1] / target[0];
    for (const Meeting& md : meetings[0][d])
      for (const Meeting& mh : meetings[1][h])
        f((md.tap * kernel[1] + mh.tap) * kernel[2],
          from + ((n * source[0] + md.source) * source[1] + mh.source) * source[2] * channels);
  }

  // to[row] = start + sum of weights * from over all that meet.
  void gather_row(std::int64_t row, const float* weights, const float* start, const float* from, float* to) const {
    for (std::int64_t w = 0; w < target[2]; ++w) {
      float* const pixel = to + (row * target[2] + w) * channels;
      const auto& columns = meetings[2][w];
      over_channels(channels, [&](std::int64_t c, auto type) {
        typename decltype(type)::type sum(start ? start + c : nullptr);
        over_rows(row, from + c, [&](std::int64_t tap, const float* line) {
          for (const Meeting& m : columns) sum.add(weights + (tap + m.tap) * channels + c, line + m.source * channels);
        });
        sum.put(pixel + c);
      });
    }
  }

  // sums[tap] += sum of x * dz over the pixels of the row; with `bias`, the taps are followed by the sum of dz.
  void add_row(std::int64_t row, const float* x, const float* dz, bool bias, float* sums) const {
    const float* const pixels = dz + row * target[2] * channels;
    over_channels(channels, [&](std::int64_t c, auto type) {
      using Sums = typename decltype(type)::type;
      over_rows(row, x + c, [&](std::int64_t tap, const float* line) {
        for (std::int64_t k = 0; k < kernel[2]; ++k) {
          float* const to = sums + (tap + k) * channels + c;
          Sums sum(to);
          for (const Pair& pair : pairs[k]) sum.add(line + pair.source * channels, pixels + pair.target * channels + c);
          sum.put(to);
        }
      });
      if (!bias) return;
      float* const to = sums + kernel[0] * kernel[1] * kernel[2] * channels + c;
      Sums sum(to);
      for (std::int64_t w = 0; w < target[2]; ++w) sum.add(pixels + w * channels + c);
      sum.put(to);
    });
  }
};

Kernel gathering(const char* name, Category category, const ConvCase& p, bool backwards, Port from, Port to) {
  Kernel kernel{name, category};
  kernel.flops = p.flops;
  kernel.reads = {std::move(from), {{Kind::x, 1}, depthwise_layout(p)}};
  const bool bias = p.bias && !backwards;
  if (bias) kernel.reads.push_back({{Kind::x, 2}, plain({p.x[-1]})});
  kernel.writes = {std::move(to)};
  kernel.run = [c = std::make_shared<const Correspondence>(p, backwards), bias](const Moment&,
                                                                                std::span<const dnnl::memory> m) {
    const float* const start = bias ? floats(m[2]) : nullptr;
    const auto rows = [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row)
        c->gather_row(row, floats(m[1]), start, floats(m[0]), floats(m[bias ? 3 : 2]));
    };
    in_parts(c->rows(), rows, std::max<std::int64_t>(1, loop_part / (c->target[2] * c->channels)));
  };
  return kernel;
}

// Rows of y are summed in a number of parts that does not depend on the threads, and then the parts in order.
Kernel weight_gradient(const ConvCase& p) {
  auto c = std::make_shared<const Correspondence>(p, false);
  const std::int64_t parts = std::min(most_depthwise_parts, c->rows()), weights = p.window.volume() * c->channels;
  const std::int64_t sums = weights + (p.bias ? c->channels : 0);
  Kernel kernel{"weight gradient", Category::backward_convolution};
  kernel.flops = p.flops;
  kernel.reads = {{{Kind::x, 0}, p.x_layout}, {p.dz, p.y_layout}};
  kernel.writes = {{{Kind::dx, 1}, depthwise_layout(p)},
                   {{Kind::temp, first_scratch + p.temporary}, plain({parts, sums})}};
  if (p.bias) kernel.writes.push_back({{Kind::dx, 2}, plain({c->channels})});
  kernel.run = [c, parts, weights, sums, bias = p.bias](const Moment&, std::span<const dnnl::memory> m) {
    float* const scratch = floats(m[3]);
    in_parts(
        parts,
        [&](std::int64_t part, std::int64_t) {
          float* const own = scratch + part * sums;
          std::fill_n(own, sums, 0.0f);
          for (std::int64_t row = c->rows() * part / parts; row < c->rows() * (part + 1) / parts; ++row)
            c->add_row(row, floats(m[0]), floats(m[1]), bias, own);
        },
        1);
    in_parts(sums, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        float total = 0;
        for (std::int64_t part = 0; part < parts; ++part) total += scratch[part * sums + i];
        (i < weights ? floats(m[2])[i] : floats(m[4])[i - weights]) = total;
      }
    });
  };
  return kernel;
}

}  // namespace

extern const ConvMethod conv_depthwise{
    "depthwise", "every channel with itself, at the speed of memory",
    [](const Setting&, const ConvCase& p, Direction direction) -> std::optional<std::vector<Kernel>> {
      const bool depthwise = p.groups > 1 && p.groups == p.x[-1] && p.groups == p.y[-1];
      if (!depthwise || (direction == Direction::forward && p.after)) return std::nullopt;
      switch (direction) {
        case Direction::forward:
          return one_kernel(gathering("forward", Category::forward_convolution, p, false, {{Kind::x, 0}, p.x_layout},
                                      {{Kind::y, 0}, p.y_layout}));
        case Direction::data_gradient:
          return one_kernel(gathering("data gradient", Category::backward_convolution, p, true, {p.dz, p.y_layout},
                                      {{Kind::dx, 0}, p.x_layout}));
        case Direction::weight_gradient: return one_kernel(weight_gradient(p));
      }
      return std::nullopt;
    },
    [](const ConvCase&, Direction) { return true; }};

}  // namespace isobar::ops
