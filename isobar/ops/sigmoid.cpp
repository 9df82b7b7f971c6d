// sigmoid, element by element:
//   y = 1 / (1 + exp(-x));  dx = dy * y * (1 - y)
#include "isobar/ops/eltwise.hpp"

namespace isobar::ops {

extern const OperatorRow sigmoid;
const OperatorRow sigmoid{
    "sigmoid", "1 / (1 + exp(-x))",
    [](Args&) -> std::unique_ptr<Operator> {
      return std::make_unique<Eltwise>(
          Pointwise{dnnl::algorithm::eltwise_logistic, dnnl::algorithm::eltwise_logistic_use_dst_for_bwd, 0, 0, true});
    },
    [] {
      return std::vector<Problem>{{"sigmoid", {{2, 5}}}, {"sigmoid", {{1, 3, 5, 7}}}};
    }};

}  // namespace isobar::ops
