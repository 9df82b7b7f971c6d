// exp, element by element:
//   y = exp(x);  dx = dy * y
#include "isobar/ops/eltwise.hpp"

namespace isobar::ops {

extern const OperatorRow exp;
const OperatorRow exp{"exp", "the exponential function",
                      [](Args&) -> std::unique_ptr<Operator> {
                        return std::make_unique<Eltwise>(Pointwise{
                            dnnl::algorithm::eltwise_exp, dnnl::algorithm::eltwise_exp_use_dst_for_bwd, 0, 0, true});
                      },
                      [] {
                        return std::vector<Problem>{{"exp", {{2, 5}}}, {"exp", {{1, 3, 5, 7}}}};
                      }};

}  // namespace isobar::ops
