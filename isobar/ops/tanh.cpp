// tanh, element by element:
//   y = tanh(x);  dx = dy * (1 - y^2)
#include "isobar/ops/eltwise.hpp"

namespace isobar::ops {

extern const OperatorRow tanh;
const OperatorRow tanh{"tanh", "hyperbolic tangent",
                       [](Args&) -> std::unique_ptr<Operator> {
                         return std::make_unique<Eltwise>(Pointwise{
                             dnnl::algorithm::eltwise_tanh, dnnl::algorithm::eltwise_tanh_use_dst_for_bwd, 0, 0, true});
                       },
                       [] {
                         return std::vector<Problem>{{"tanh", {{2, 5}}}, {"tanh", {{1, 3, 5, 7}}}};
                       }};

}  // namespace isobar::ops
