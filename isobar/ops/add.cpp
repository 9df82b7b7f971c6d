// add: the sum of two or more inputs of one shape.
//   y = x0 + x1 + ...;  dx_i = dy
#include "isobar/base/error.hpp"
#include "isobar/ops/loops.hpp"
#include "isobar/ops/op.hpp"
#include "isobar/ops/primitive.hpp"
#include "isobar/ops/view.hpp"

namespace isobar::ops {
namespace {

using Kind = Slot::Kind;

class Add final : public Operator {
 public:
  int arity() const override { return -1; }

  std::vector<Shape> infer(std::span<const Shape> in) const override {
    if (in.size() < 2) fail("has {} input, needs at least 2", in.size());
    for (std::size_t i = 1; i < in.size(); ++i)
      if (in[i] != in[0]) fail("input {} is {}, input 0 is {}: the shapes must be equal", i, in[i].str(), in[0].str());
    return {in[0]};
  }

  Kernel forward(const Setting&, std::span<const Operand> in) const override {
    const Layout layout = plain(in[0].shape);
    const std::int64_t count = in[0].shape.count();
    Kernel kernel{"forward", Category::forward_pointwise};
    for (std::size_t i = 0; i < in.size(); ++i) kernel.reads.push_back({{Kind::x, static_cast<int>(i)}, layout});
    kernel.writes = {{{Kind::y, 0}, layout, 0}};
    kernel.flops = static_cast<double>(count) * static_cast<double>(in.size() - 1);
    kernel.run = [count](const Moment&, std::span<const dnnl::memory> memories) {
      float* y = floats(memories.back());
      in_parts(count, [&](std::int64_t begin, std::int64_t end) {
        const float *a = floats(memories[0]), *b = floats(memories[1]);
        for (std::int64_t i = begin; i < end; ++i) y[i] = a[i] + b[i];
        for (std::size_t k = 2; k + 1 < memories.size(); ++k) {
          const float* c = floats(memories[k]);
          for (std::int64_t i = begin; i < end; ++i) y[i] += c[i];
        }
      });
    };
    return kernel;
  }

  std::vector<Kernel> backward(const Setting&, std::span<const Operand> in) const override {
    std::vector<Kernel> list;
    for (std::size_t i = 0; i < in.size(); ++i)
      if (in[i].needs_gradient) list.push_back(backward_view(in[0].shape, in[0].shape, static_cast<int>(i)));
    return list;
  }
};

}  // namespace

extern const OperatorRow add;
const OperatorRow add{
    "add", "the sum of two or more inputs", [](Args&) -> std::unique_ptr<Operator> { return std::make_unique<Add>(); },
    [] {
      return std::vector<Problem>{{"add", {{2, 3, 5}, {2, 3, 5}}}, {"add", {{1, 3, 3, 4}, {1, 3, 3, 4}, {1, 3, 3, 4}}}};
    }};

}  // namespace isobar::ops
