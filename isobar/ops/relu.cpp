// relu, element by element:
//   y = max(x, 0);  dx = dy where y > 0, otherwise 0
#include "isobar/ops/eltwise.hpp"

namespace isobar::ops {

extern const OperatorRow relu;
const OperatorRow relu{"relu", "max(x, 0)",
                       [](Args&) -> std::unique_ptr<Operator> {
                         return std::make_unique<Eltwise>(Pointwise{
                             dnnl::algorithm::eltwise_relu, dnnl::algorithm::eltwise_relu_use_dst_for_bwd, 0, 0, true});
                       },
                       [] {
                         return std::vector<Problem>{{"relu", {{2, 7}}}, {"relu", {{1, 3, 4, 5, 6}}}};
                       }};

}  // namespace isobar::ops
