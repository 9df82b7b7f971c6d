#include "isobar/ops/op.hpp"

namespace isobar::ops {

std::vector<Parameter> Operator::parameters(std::span<const Shape>) const { return {}; }

std::shared_ptr<const Operator> Operator::absorb(const Pointwise&) const { return nullptr; }

std::shared_ptr<const Operator> make_operator(const Spec& spec, Spec* resolved) {
  return make(operators(), spec, "operator", resolved);
}

}  // namespace isobar::ops
