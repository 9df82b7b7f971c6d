#include "isobar/ops/conv_narrow.hpp"

#include <algorithm>
#include <omp.h>
#include <vector>

#include "isobar/ops/primitive.hpp"

namespace isobar::ops {
namespace {

constexpr int lanes = 16;
using Vector = float __attribute__((vector_size(lanes * sizeof(float)), aligned(4), may_alias));

inline Vector& vector_at(float* p) { return *reinterpret_cast<Vector*>(p); }
inline const Vector& vector_at(const float* p) { return *reinterpret_cast<const Vector*>(p); }

// Everything the loops need; spatial axes are d, h, w, with missing ones of extent 1.
struct Geometry {
  std::int64_t batch, in[3], out[3], kernel[3], before[3];
  std::int64_t channels, filters;
  std::int64_t row_length() const { return kernel[2] * channels; }  // numbers of x under one row of the window
  std::int64_t taps() const { return kernel[0] * kernel[1]; }
  std::int64_t weights() const { return taps() * row_length() * filters; }
};

// sum[j][o] += sum over w of row[w * channels + j] * dz[w][o], for J numbers j and two vectors of outputs o.
template <int J>
__attribute__((target("avx512f,fma"), always_inline)) inline void rank_update(const float* row, std::int64_t channels,
                                                                              const float* dz, std::int64_t filters,
                                                                              std::int64_t positions, float* sum) {
  Vector a[J], b[J];  // unrolled throughout, so that the compiler keeps them in registers
#pragma GCC unroll 16
  for (int j = 0; j < J; ++j) {
    a[j] = vector_at(sum + j * filters);
    b[j] = vector_at(sum + j * filters + lanes);
  }
  for (std::int64_t w = 0; w < positions; ++w) {
    const Vector left = vector_at(dz + w * filters), right = vector_at(dz + w * filters + lanes);
#pragma GCC unroll 16
    for (int j = 0; j < J; ++j) {
      const float x = row[w * channels + j];
      a[j] += x * left;
      b[j] += x * right;
    }
  }
#pragma GCC unroll 16
  for (int j = 0; j < J; ++j) {
    vector_at(sum + j * filters) = a[j];
    vector_at(sum + j * filters + lanes) = b[j];
  }
}

__attribute__((target("avx512f,fma"))) void rows_update(const float* row, std::int64_t channels, std::int64_t length,
                                                        const float* dz, std::int64_t filters, std::int64_t positions,
                                                        float* sum) {
  for (std::int64_t o = 0; o < filters; o += 2 * lanes) {
    std::int64_t j = 0;
    for (; j + 12 <= length; j += 12)
      rank_update<12>(row + j, channels, dz + o, filters, positions, sum + j * filters + o);
    for (; j + 4 <= length; j += 4)
      rank_update<4>(row + j, channels, dz + o, filters, positions, sum + j * filters + o);
    for (; j < length; ++j) rank_update<1>(row + j, channels, dz + o, filters, positions, sum + j * filters + o);
  }
}

// One output row (fixed n, d, h) against every row of the window. Border positions see only part of a window row.
void row_gradient(const Geometry& g, const float* x, const float* dz, std::int64_t d, std::int64_t h, float* sum) {
  const std::int64_t first = g.before[2], last = std::max(first, g.in[2] + g.before[2] - g.kernel[2] + 1);
  for (std::int64_t kd = 0; kd < g.kernel[0]; ++kd) {
    const std::int64_t xd = d + kd - g.before[0];
    if (xd < 0 || xd >= g.in[0]) continue;
    for (std::int64_t kh = 0; kh < g.kernel[1]; ++kh) {
      const std::int64_t xh = h + kh - g.before[1];
      if (xh < 0 || xh >= g.in[1]) continue;
      const float* const row = x + (xd * g.in[1] + xh) * g.in[2] * g.channels;
      float* const part = sum + (kd * g.kernel[1] + kh) * g.row_length() * g.filters;
      const std::int64_t inner_first = std::min(first, g.out[2]), inner_last = std::min(last, g.out[2]);
      if (inner_last > inner_first)
        rows_update(row + (inner_first - g.before[2]) * g.channels, g.channels, g.row_length(),
                    dz + inner_first * g.filters, g.filters, inner_last - inner_first, part);
      for (std::int64_t w = 0; w < g.out[2]; ++w) {
        if (w == inner_first && inner_last > inner_first) w = inner_last;
        if (w >= g.out[2]) break;
        const std::int64_t from = std::max<std::int64_t>(0, g.before[2] - w);
        const std::int64_t to = std::min(g.kernel[2], g.in[2] + g.before[2] - w);
        if (from < to)
          rows_update(row + (w + from - g.before[2]) * g.channels, g.channels, (to - from) * g.channels,
                      dz + w * g.filters, g.filters, 1, part + from * g.channels * g.filters);
      }
    }
  }
}

// Threads take fixed ranges of output rows and sum in order of their number.
void weight_gradient(const Geometry& g, int threads, const float* x, const float* dz, float* scratch, float* dw,
                     float* db) {
  const std::int64_t rows = g.batch * g.out[0] * g.out[1];
  const std::int64_t stride = g.weights() + g.filters;
  int used = 1;
#pragma omp parallel num_threads(threads)
  {
#pragma omp single
    used = omp_get_num_threads();
    const std::int64_t thread = omp_get_thread_num();
    float* const sum = scratch + thread * stride;
    std::fill_n(sum, stride, 0.0f);
    float* const bias = sum + g.weights();
    for (std::int64_t r = rows * thread / used; r < rows * (thread + 1) / used; ++r) {
      const std::int64_t n = r / (g.out[0] * g.out[1]), d = r / g.out[1] % g.out[0], h = r % g.out[1];
      const float* const dz_row = dz + r * g.out[2] * g.filters;
      row_gradient(g, x + n * g.in[0] * g.in[1] * g.in[2] * g.channels, dz_row, d, h, sum);
      if (!db) continue;
      for (std::int64_t w = 0; w < g.out[2]; ++w)
#pragma omp simd
        for (std::int64_t o = 0; o < g.filters; ++o) bias[o] += dz_row[w * g.filters + o];
    }
  }
  for (std::int64_t i = 0; i < stride; ++i) {
    float total = 0;
    for (int t = 0; t < used; ++t) total += scratch[t * stride + i];
    if (i < g.weights()) dw[i] = total;
    else if (db) db[i - g.weights()] = total;
  }
}

}  // namespace

std::optional<Kernel> narrow_weight_gradient(const ConvCase& problem) {
  const Shape &x = problem.x, &y = problem.y;
  const Window& window = problem.window;
  const bool bias = problem.bias;
  const bool suits = problem.groups == 1 && x[-1] <= 8 && y[-1] % (2 * lanes) == 0 && problem.unit_stride() &&
                     problem.dense() && __builtin_cpu_supports("avx512f");
  if (!suits) return std::nullopt;
  Geometry g{x[0], {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, x[-1], y[-1]};
  const std::size_t axes = window.kernel.size();
  for (std::size_t a = 0; a < axes; ++a) {
    const std::size_t at = 3 - axes + a;
    g.in[at] = x[static_cast<int>(a) + 1];
    g.out[at] = window.out[a];
    g.kernel[at] = window.kernel[a];
    g.before[at] = window.before[a];
  }

  const int threads = omp_get_max_threads();
  Kernel kernel{"weight gradient", Category::backward_convolution};
  kernel.flops = problem.flops;
  kernel.reads = {{{Slot::Kind::x, 0}, problem.x_layout}, {problem.dz, problem.y_layout}};
  kernel.writes = {{{Slot::Kind::dx, 1}, weight_rows(problem)}};
  if (bias) kernel.writes.push_back({{Slot::Kind::dx, 2}, plain({y[-1]})});
  kernel.writes.push_back(
      {{Slot::Kind::temp, first_scratch + problem.temporary}, plain({threads, g.weights() + g.filters})});
  kernel.run = [g, bias, threads](const Moment&, std::span<const dnnl::memory> m) {
    weight_gradient(g, threads, floats(m[0]), floats(m[1]), floats(m[bias ? 4 : 3]), floats(m[2]),
                    bias ? floats(m[3]) : nullptr);
  };
  return kernel;
}

extern const ConvMethod conv_narrow;
const ConvMethod conv_narrow{
    "narrow", "weight gradient of stride 1 with at most 8 input channels, vectorised over outputs",
    [](const Setting&, const ConvCase& problem, Direction direction) -> std::optional<std::vector<Kernel>> {
      if (direction != Direction::weight_gradient) return std::nullopt;
      return one_kernel(narrow_weight_gradient(problem));
    },
    [](const ConvCase&, Direction) { return true; }};

}  // namespace isobar::ops
