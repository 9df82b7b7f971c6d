#include "isobar/tune/compare_methods.hpp"

#include "isobar/ops/conv_methods.hpp"
#include "isobar/ops/conv_pieces.hpp"
#include "isobar/tensor/engine.hpp"

namespace isobar::tune {

std::vector<MethodFigures> compare_methods(const Spec& conv, const Shape& x, KernelTimer& timer) {
  const auto op = ops::make_operator(conv);
  if (op->arity() != 1) return {};
  std::vector<ops::Operand> in{{x, channels_last(x), true}};
  for (const ops::Parameter& parameter : op->parameters(std::vector{x}))
    in.push_back({parameter.shape, Layout(), true});
  auto problem = ops::conv_case(*op, in, ops::Phase::training);
  if (!problem) return {};
  const ops::Setting setting{cpu_engine()};
  std::vector<MethodFigures> all;
  for (const ops::Direction direction :
       {ops::Direction::forward, ops::Direction::data_gradient, ops::Direction::weight_gradient}) {
    bool found_usual = false;
    for (const ops::ConvMethod* method : ops::conv_methods()) {
      const auto made = method->make(setting, *problem, direction);
      if (!made) continue;
      const bool usual = !found_usual && method->preferred(*problem, direction);
      found_usual = found_usual || usual;
      all.push_back({method->name, direction, method->exact, usual, problem->flops,
                     method->work ? method->work(*problem, direction) : problem->flops, ops::workspace_bytes(*made),
                     timer.time(*made)});
      if (direction == ops::Direction::forward && usual) problem->stored = made->front().reads[1].layout;
    }
  }
  return all;
}

}  // namespace isobar::tune
