// softplus, element by element:
//   y = log(1 + exp(x));  dx = dy / (1 + exp(-x))
#include "isobar/ops/eltwise_of_input.hpp"

namespace isobar::ops {

extern const OperatorRow softplus;
const OperatorRow softplus{"softplus", "log(1 + exp(x)), a smooth relu",
                           [](Args&) -> std::unique_ptr<Operator> {
                             return std::make_unique<EltwiseOfInput>(dnnl::algorithm::eltwise_soft_relu);
                           },
                           [] {
                             return std::vector<Problem>{{"softplus", {{2, 5}}}, {"softplus", {{1, 3, 5, 7}}, -9, 9}};
                           }};

}  // namespace isobar::ops
