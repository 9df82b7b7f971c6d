// scale, element by element:
//   y = by * x;  dx = by * dy
#include "isobar/base/loops.hpp"
#include "isobar/ops/op.hpp"
#include "isobar/ops/primitive.hpp"

namespace isobar::ops {
namespace {

using Kind = Slot::Kind;

class Scale final : public Operator {
 public:
  explicit Scale(Args& args) : by_(static_cast<float>(args.real("by", 1.0))) {}

  std::vector<Shape> infer(std::span<const Shape> in) const override { return {in[0]}; }

  std::optional<Reach> reach(int axis, std::span<const Shape> in) const override { return same_elements(axis, in); }

  Kernel forward(const Setting&, std::span<const Operand> in) const override {
    return multiply("forward", Category::forward_pointwise, in[0].shape, {Kind::x, 0}, {Kind::y, 0});
  }

  std::vector<Kernel> backward(const Setting&, std::span<const Operand> in) const override {
    if (!in[0].needs_gradient) return {};
    return {multiply("backward", Category::backward_pointwise, in[0].shape, {Kind::dy, 0}, {Kind::dx, 0})};
  }

 private:
  Kernel multiply(std::string name, Category category, const Shape& shape, Slot from, Slot to) const {
    const std::int64_t count = shape.count();
    return {std::move(name),
            category,
            {{from, plain(shape)}},
            {{to, plain(shape), 0}},
            static_cast<double>(count),
            [count, by = by_](const Moment&, std::span<const dnnl::memory> memories) {
              const float* x = floats(memories[0]);
              float* y = floats(memories[1]);
              in_parts(count, [=](std::int64_t begin, std::int64_t end) {
                for (std::int64_t i = begin; i < end; ++i) y[i] = by * x[i];
              });
            }};
  }

  float by_;
};

}  // namespace

extern const OperatorRow scale{"scale",
                               "multiplies by a number",
                               make_member<Scale>,
                               {{"scale(by=1.2)", {{3, 4}}}, {"scale(by=-0.5)", {{2, 3, 5, 2}}}}};

}  // namespace isobar::ops
