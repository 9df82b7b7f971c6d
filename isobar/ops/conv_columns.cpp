#include "isobar/ops/conv_columns.hpp"

#include <algorithm>

#include "isobar/base/loops.hpp"

namespace isobar::ops {

ConvColumns::ConvColumns(const ConvCase& problem) : batch_(problem.x[0]), channels_(problem.x[-1]) {
  const Window& w = problem.window;
  for (std::size_t a = 0, at = 3 - w.kernel.size(); at < 3; ++a, ++at) {
    in_[at] = problem.x[a + 1];
    out_[at] = w.out[a];
    kernel_[at] = w.kernel[a];
    stride_[at] = w.stride[a];
    dilation_[at] = w.dilation[a];
    before_[at] = w.before[a];
  }
}

bool ConvColumns::trivial() const {
  for (int a = 0; a < 3; ++a)
    if (kernel_[a] != 1 || stride_[a] != 1 || before_[a] != 0 || in_[a] != out_[a]) return false;
  return true;
}

void ConvColumns::fill(const float* x, std::int64_t first, std::int64_t width, float* columns) const {
  const auto line = [&](std::int64_t number, std::int64_t) {
    const std::int64_t h = number % out_[1], d = number / out_[1] % out_[0], n = number / out_[1] / out_[0];
    float* to = columns + number * out_[2] * taps() * width;
    for (std::int64_t w = 0; w < out_[2]; ++w)
      for (std::int64_t kd = 0; kd < kernel_[0]; ++kd)
        for (std::int64_t kh = 0; kh < kernel_[1]; ++kh) {
          const std::int64_t id = d * stride_[0] + kd * dilation_[0] - before_[0];
          const std::int64_t ih = h * stride_[1] + kh * dilation_[1] - before_[1];
          const bool inside = id >= 0 && id < in_[0] && ih >= 0 && ih < in_[1];
          const float* const row = x + ((n * in_[0] + id) * in_[1] + ih) * in_[2] * channels_ + first;
          for (std::int64_t kw = 0; kw < kernel_[2]; ++kw, to += width) {
            const std::int64_t iw = w * stride_[2] + kw * dilation_[2] - before_[2];
            if (inside && iw >= 0 && iw < in_[2]) std::copy_n(row + iw * channels_, width, to);
            else std::fill_n(to, width, 0.0f);
          }
        }
  };
  in_parts(batch_ * out_[0] * out_[1], line, 1);
}

void ConvColumns::gather(const float* columns, std::int64_t first, std::int64_t width, float* dx) const {
  const auto line = [&](std::int64_t number, std::int64_t) {
    const std::int64_t ih = number % in_[1], id = number / in_[1] % in_[0], n = number / in_[1] / in_[0];
    // The output position whose tap k reads input i, or -1.
    const auto position = [&](int a, std::int64_t i, std::int64_t k) {
      const std::int64_t reach = i + before_[a] - k * dilation_[a];
      return reach < 0 || reach % stride_[a] != 0 || reach / stride_[a] >= out_[a] ? -1 : reach / stride_[a];
    };
    for (std::int64_t iw = 0; iw < in_[2]; ++iw) {
      float* const to = dx + (number * in_[2] + iw) * channels_ + first;
      std::fill_n(to, width, 0.0f);
      for (std::int64_t kd = 0; kd < kernel_[0]; ++kd) {
        const std::int64_t d = position(0, id, kd);
        for (std::int64_t kh = 0; d >= 0 && kh < kernel_[1]; ++kh) {
          const std::int64_t h = position(1, ih, kh);
          for (std::int64_t kw = 0; h >= 0 && kw < kernel_[2]; ++kw) {
            const std::int64_t w = position(2, iw, kw);
            if (w < 0) continue;
            const std::int64_t row = ((n * out_[0] + d) * out_[1] + h) * out_[2] + w;
            const std::int64_t tap = (kd * kernel_[1] + kh) * kernel_[2] + kw;
            const float* const from = columns + (row * taps() + tap) * width;
#pragma omp simd
            for (std::int64_t c = 0; c < width; ++c) to[c] += from[c];
          }
        }
      }
    }
  };
  in_parts(batch_ * in_[0] * in_[1], line, 1);
}

}  // namespace isobar::ops
