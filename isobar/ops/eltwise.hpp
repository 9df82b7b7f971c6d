// Eltwise: y = f(x) element by element with f' computed from y, shared by the activation functions.
#pragma once

#include "isobar/ops/op.hpp"

namespace isobar::ops {

/// An activation function; forward may overwrite x and backward may overwrite dy.
class Eltwise final : public Operator {
 public:
  explicit Eltwise(const Pointwise& f) : f_(f) {}

  std::vector<Shape> infer(std::span<const Shape> in) const override { return {in[0]}; }
  Kernel forward(const Setting& setting, std::span<const Operand> in) const override;
  std::vector<Kernel> backward(const Setting& setting, std::span<const Operand> in) const override;
  std::optional<Pointwise> pointwise() const override { return f_; }

 private:
  Pointwise f_;
};

}  // namespace isobar::ops
