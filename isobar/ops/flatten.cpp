// flatten: [N, a, b, ...] -> [N, a*b*...], without copying.
//   y = x;  dx = dy
#include "isobar/base/error.hpp"
#include "isobar/ops/op.hpp"
#include "isobar/ops/view.hpp"

namespace isobar::ops {
namespace {

class Flatten final : public Operator {
 public:
  std::vector<Shape> infer(std::span<const Shape> in) const override {
    if (in[0].rank() < 1) fail("x is a scalar, it needs a batch axis");
    return {Shape{in[0][0], in[0].count(1, in[0].rank())}};
  }

  Kernel forward(const Setting&, std::span<const Operand> in) const override {
    return forward_view(in[0].shape, flat(in));
  }

  std::vector<Kernel> backward(const Setting&, std::span<const Operand> in) const override {
    if (!in[0].needs_gradient) return {};
    return {backward_view(flat(in), in[0].shape)};
  }

 private:
  Shape flat(std::span<const Operand> in) const { return infer(std::span(&in[0].shape, 1))[0]; }
};

}  // namespace

extern const OperatorRow flatten{"flatten",
                                 "all axes but the batch become one",
                                 make_member<Flatten>,
                                 {{"flatten", {{2, 3, 4, 5}}}, {"flatten", {{3, 7}}}}};

}  // namespace isobar::ops
