// softmax and log_softmax along one axis: by oneDNN if the axis is the last. Otherwise oneDNN 2.6 has only its
// reference loops (100 times slower on 8x512x1024), so our own loops run over [outer, axis, inner].
#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

#include "isobar/base/error.hpp"
#include "isobar/base/loops.hpp"
#include "isobar/ops/exponential.hpp"
#include "isobar/ops/op.hpp"
#include "isobar/ops/primitive.hpp"

namespace isobar::ops {
namespace {

using Kind = Slot::Kind;

// A tensor seen as [outer, classes, inner]; the softmax is over the classes.
struct SoftmaxView {
  std::int64_t outer, classes, inner;
};

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

// y = softmax of x, or its logarithm; y may be x.
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

// dx from y and dy; dx may be dy.
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

// An operator made of oneDNN's primitives Forward and Backward; both may work in place.
template <class Forward, class Backward>
class SoftmaxAxis final : public Operator {
 public:
  explicit SoftmaxAxis(Args& args) : axis_(args.integer("axis", -1)) {}

  std::vector<Shape> infer(std::span<const Shape> in) const override {
    const int rank = in[0].rank();
    if (axis_ < -rank || axis_ >= rank) fail("axis = {} is not an axis of x = {}", axis_, in[0].str());
    return {in[0]};
  }

  std::optional<Reach> reach(int axis, std::span<const Shape> in) const override {
    if (axis == (axis_ < 0 ? axis_ + in[0].rank() : axis_)) return std::nullopt;
    return same_elements(axis, in);
  }

  Kernel forward(const Setting& setting, std::span<const Operand> in) const override {
    const Layout x = plain(in[0].shape);
    const SoftmaxView v = view(in[0].shape);
    if (v.inner > 1) {
      Kernel kernel{"forward", Category::forward_pointwise, {{{Kind::x, 0}, x}}, {{{Kind::y, 0}, x, 0}}};
      kernel.flops = 4.0 * in[0].shape.count();
      kernel.run = [v](const Moment&, std::span<const dnnl::memory> m) {
        softmax_columns(v, logarithm, floats(m[0]), floats(m[1]));
      };
      return kernel;
    }
    const auto chosen = forward_descriptor(setting, v);
    return primitive_kernel("forward", Category::forward_pointwise, Forward(chosen), chosen.scratchpad_desc(), 0,
                            {{DNNL_ARG_SRC, {{Kind::x, 0}, x}}}, {{DNNL_ARG_DST, {{Kind::y, 0}, x, 0}}},
                            4.0 * in[0].shape.count());
  }

  std::vector<Kernel> backward(const Setting& setting, std::span<const Operand> in) const override {
    if (!in[0].needs_gradient) return {};
    const Layout x = plain(in[0].shape);
    const SoftmaxView v = view(in[0].shape);
    if (v.inner > 1) {
      Kernel kernel{
          "backward", Category::backward_pointwise, {{{Kind::y, 0}, x}, {{Kind::dy, 0}, x}}, {{{Kind::dx, 0}, x, 1}}};
      kernel.flops = 4.0 * in[0].shape.count();
      kernel.run = [v](const Moment&, std::span<const dnnl::memory> m) {
        softmax_columns_gradient(v, logarithm, floats(m[0]), floats(m[1]), floats(m[2]));
      };
      return {kernel};
    }
    const Layout seen = plain({v.outer, v.classes});
    const auto hint = forward_descriptor(setting, v);
    const auto chosen = planned("gradient of softmax", [&] {
      const typename Backward::desc desc(seen, seen, 1);
      return typename Backward::primitive_desc(desc, own_scratchpad(), setting.engine, hint);
    });
    return {primitive_kernel("backward", Category::backward_pointwise, Backward(chosen), chosen.scratchpad_desc(), 1,
                             {{DNNL_ARG_DST, {{Kind::y, 0}, x}}, {DNNL_ARG_DIFF_DST, {{Kind::dy, 0}, x}}},
                             {{DNNL_ARG_DIFF_SRC, {{Kind::dx, 0}, x, 1}}}, 4.0 * in[0].shape.count())};
  }

 private:
  static constexpr bool logarithm = std::is_same_v<Forward, dnnl::logsoftmax_forward>;

  SoftmaxView view(const Shape& x) const {
    const int axis = axis_ < 0 ? axis_ + x.rank() : axis_;
    return {x.count(0, axis), x[axis], x.count(axis + 1, x.rank())};
  }

  typename Forward::primitive_desc forward_descriptor(const Setting& setting, const SoftmaxView& v) const {
    return planned("softmax", [&] {
      const typename Forward::desc desc(forward_kind(setting.phase), plain({v.outer, v.classes}), 1);
      return typename Forward::primitive_desc(desc, own_scratchpad(), setting.engine);
    });
  }

  std::int64_t axis_;
};

}  // namespace

// y_c = x_c - log(sum over d of exp(x_d));  dx_c = dy_c - exp(y_c) * sum over d of dy_d
extern const OperatorRow log_softmax{"log_softmax",
                                     "logarithms of the probabilities over one axis",
                                     make_member<SoftmaxAxis<dnnl::logsoftmax_forward, dnnl::logsoftmax_backward>>,
                                     {{"log_softmax", {{3, 5}}},
                                      {"log_softmax", {{1, 2, 17}}},
                                      {"log_softmax(axis=1)", {{2, 5, 3, 2}}},
                                      {"log_softmax(axis=0)", {{4, 18}}}}};

// y_c = exp(x_c) / sum over d of exp(x_d);  dx_c = y_c * (dy_c - sum over d of dy_d * y_d)
extern const OperatorRow softmax{"softmax",
                                 "probabilities over one axis",
                                 make_member<SoftmaxAxis<dnnl::softmax_forward, dnnl::softmax_backward>>,
                                 {{"softmax", {{3, 5}}},
                                  {"softmax", {{2, 3, 4, 3}}},
                                  {"softmax", {{1, 2, 17}}},
                                  {"softmax(axis=1)", {{2, 5, 3}}},
                                  {"softmax(axis=0)", {{4, 18}}},
                                  {"softmax", {{7}}},
                                  {"softmax(axis=-2)", {{2, 3, 4, 1}}}}};

}  // namespace isobar::ops
