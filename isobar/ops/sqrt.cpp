// sqrt, element by element, for x >= 0:
//   y = sqrt(x);  dx = dy / (2 y)
#include "isobar/ops/eltwise.hpp"

namespace isobar::ops {

extern const OperatorRow sqrt;
const OperatorRow sqrt{"sqrt", "the square root",
                       [](Args&) -> std::unique_ptr<Operator> {
                         return std::make_unique<Eltwise>(Pointwise{
                             dnnl::algorithm::eltwise_sqrt, dnnl::algorithm::eltwise_sqrt_use_dst_for_bwd, 0, 0, true});
                       },
                       [] {
                         return std::vector<Problem>{{"sqrt", {{2, 5}}, 0.1, 3}, {"sqrt", {{1, 3, 5, 7}}, 0.1, 3}};
                       }};

}  // namespace isobar::ops
