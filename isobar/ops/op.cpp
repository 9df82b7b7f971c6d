#include "isobar/ops/op.hpp"

#include "isobar/base/error.hpp"

namespace isobar::ops {

std::vector<Parameter> Operator::parameters(std::span<const Shape>) const { return {}; }

std::shared_ptr<const Operator> Operator::absorb(const Pointwise&) const { return nullptr; }

Kernel Operator::forward(const Setting&, std::span<const Operand>) const {
  throw std::logic_error("an operator of several kernels has no single one");
}

std::vector<Kernel> Operator::forwards(const Setting& setting, std::span<const Operand> in) const {
  std::vector<Kernel> list;
  list.push_back(forward(setting, in));
  return list;
}

std::shared_ptr<const Operator> make_operator(const Spec& spec, Spec* resolved) {
  return make(operators(), spec, "operator", resolved);
}

}  // namespace isobar::ops
