#include "isobar/ops/softmax_axis.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "isobar/base/loops.hpp"
#include "isobar/ops/exponential.hpp"

namespace isobar::ops {
namespace {

constexpr std::int64_t columns = 256;  // processed at a time; their maxima and sums stay in cache

// Calls block(offset of its first number, number of columns) for all blocks of columns, in parallel.
template <class Block>
void over_columns(const SoftmaxView& v, const Block& block) {
  const std::int64_t blocks = (v.inner + columns - 1) / columns;
  const auto part = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t first = i % blocks * columns;
      block(i / blocks * v.classes * v.inner + first, std::min(columns, v.inner - first));
    }
  };
  in_parts(v.outer * blocks, part, std::max<std::int64_t>(1, loop_part / (v.classes * std::min(columns, v.inner))));
}

}  // namespace

void softmax_columns(const SoftmaxView& v, bool logarithm, const float* x, float* y) {
  over_columns(v, [=](std::int64_t first, std::int64_t count) {
    std::array<float, columns> most, sum{};
    std::copy_n(x + first, count, most.begin());
    for (std::int64_t c = 1; c < v.classes; ++c) {
      const float* const from = x + first + c * v.inner;
#pragma omp simd
      for (std::int64_t i = 0; i < count; ++i) most[i] = from[i] > most[i] ? from[i] : most[i];
    }
    for (std::int64_t c = 0; c < v.classes; ++c) {
      const float* const from = x + first + c * v.inner;
      float* const to = y + first + c * v.inner;
      if (logarithm) {
#pragma omp simd
        for (std::int64_t i = 0; i < count; ++i) sum[i] += exponential(from[i] - most[i]);
      } else {
#pragma omp simd
        for (std::int64_t i = 0; i < count; ++i) sum[i] += to[i] = exponential(from[i] - most[i]);
      }
    }
    for (std::int64_t i = 0; i < count; ++i) sum[i] = logarithm ? most[i] + std::log(sum[i]) : 1 / sum[i];
    for (std::int64_t c = 0; c < v.classes; ++c) {
      const float* const from = x + first + c * v.inner;
      float* const to = y + first + c * v.inner;
      if (logarithm) {
#pragma omp simd
        for (std::int64_t i = 0; i < count; ++i) to[i] = from[i] - sum[i];
      } else {
#pragma omp simd
        for (std::int64_t i = 0; i < count; ++i) to[i] *= sum[i];
      }
    }
  });
}

void softmax_columns_gradient(const SoftmaxView& v, bool logarithm, const float* y, const float* dy, float* dx) {
  over_columns(v, [=](std::int64_t first, std::int64_t count) {
    std::array<float, columns> sum{};
    for (std::int64_t c = 0; c < v.classes; ++c) {
      const float *const result = y + first + c * v.inner, *const from = dy + first + c * v.inner;
#pragma omp simd
      for (std::int64_t i = 0; i < count; ++i) sum[i] += from[i] * (logarithm ? 1.0f : result[i]);
    }
    for (std::int64_t c = 0; c < v.classes; ++c) {
      const float *const result = y + first + c * v.inner, *const from = dy + first + c * v.inner;
      float* const to = dx + first + c * v.inner;
      if (logarithm) {
#pragma omp simd
        for (std::int64_t i = 0; i < count; ++i) to[i] = from[i] - exponential(result[i]) * sum[i];
      } else {
#pragma omp simd
        for (std::int64_t i = 0; i < count; ++i) to[i] = result[i] * (from[i] - sum[i]);
      }
    }
  });
}

}  // namespace isobar::ops
