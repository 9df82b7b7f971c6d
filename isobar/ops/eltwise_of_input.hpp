// EltwiseOfInput: y = f(x) element by element with f' computed from x, for functions whose f' does not follow from y.
// They are not absorbed by the operator that produces x, because x would have to be kept all the same.
#pragma once

#include "isobar/ops/op.hpp"

namespace isobar::ops {

/// A function of oneDNN's eltwise, with its parameters alpha and beta.
class EltwiseOfInput final : public Operator {
 public:
  explicit EltwiseOfInput(dnnl::algorithm f, float alpha = 0, float beta = 0) : f_(f), alpha_(alpha), beta_(beta) {}

  std::vector<Shape> infer(std::span<const Shape> in) const override { return {in[0]}; }
  Kernel forward(const Setting& setting, std::span<const Operand> in) const override;
  std::vector<Kernel> backward(const Setting& setting, std::span<const Operand> in) const override;

 private:
  dnnl::eltwise_forward::primitive_desc descriptor(const Setting& setting, const Layout& x) const;

  dnnl::algorithm f_;
  float alpha_, beta_;
};

}  // namespace isobar::ops
