// log, element by element, for x > 0:
//   y = log(x);  dx = dy / x
#include "isobar/ops/eltwise_of_input.hpp"

namespace isobar::ops {

extern const OperatorRow log;
const OperatorRow log{
    "log", "the natural logarithm",
    [](Args&) -> std::unique_ptr<Operator> { return std::make_unique<EltwiseOfInput>(dnnl::algorithm::eltwise_log); },
    [] {
      return std::vector<Problem>{{"log", {{2, 5}}, 0.1, 3}, {"log", {{1, 3, 5, 7}}, 0.1, 3}};
    }};

}  // namespace isobar::ops
