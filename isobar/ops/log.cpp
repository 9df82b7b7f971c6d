// log, element by element, for x > 0:
//   y = log(x);  dx = dy / x
// We use our own loops, because oneDNN's logarithm is off by 1e-6 around x = 1, where y is 0.
#include <cmath>

#include "isobar/base/loops.hpp"
#include "isobar/ops/op.hpp"
#include "isobar/ops/primitive.hpp"

namespace isobar::ops {
namespace {

using Kind = Slot::Kind;

class Log final : public Operator {
 public:
  std::vector<Shape> infer(std::span<const Shape> in) const override { return {in[0]}; }

  std::optional<Reach> reach(int axis, std::span<const Shape> in) const override { return same_elements(axis, in); }

  Kernel forward(const Setting&, std::span<const Operand> in) const override {
    const std::int64_t count = in[0].shape.count();
    const auto run = [count](const Moment&, std::span<const dnnl::memory> m) {
      const float* const x = floats(m[0]);
      float* const y = floats(m[1]);
      in_parts(count, [=](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) y[i] = std::log(x[i]);
      });
    };
    const Layout layout = plain(in[0].shape);
    return {"forward",
            Category::forward_pointwise,
            {{{Kind::x, 0}, layout}},
            {{{Kind::y, 0}, layout, 0}},
            static_cast<double>(count),
            run};
  }

  std::vector<Kernel> backward(const Setting&, std::span<const Operand> in) const override {
    if (!in[0].needs_gradient) return {};
    const std::int64_t count = in[0].shape.count();
    const auto run = [count](const Moment&, std::span<const dnnl::memory> m) {
      const float *const x = floats(m[0]), *const dy = floats(m[1]);
      float* const dx = floats(m[2]);
      in_parts(count, [=](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) dx[i] = dy[i] / x[i];
      });
    };
    const Layout layout = plain(in[0].shape);
    return {{"backward",
             Category::backward_pointwise,
             {{{Kind::x, 0}, layout}, {{Kind::dy, 0}, layout}},
             {{{Kind::dx, 0}, layout, 1}},
             static_cast<double>(count),
             run}};
  }
};

}  // namespace

extern const OperatorRow log{
    "log", "the natural logarithm", make_member<Log>, {{"log", {{2, 5}}, 0.1, 3}, {"log", {{1, 3, 5, 7}}, 0.1, 3}}};

}  // namespace isobar::ops
