// elu, element by element, with alpha >= 0:
//   y = x for x > 0, else alpha * (exp(x) - 1);  dx = dy for x > 0, else dy * (y + alpha)
#include "isobar/ops/eltwise.hpp"

namespace isobar::ops {

extern const OperatorRow elu;
const OperatorRow elu{"elu", "x, or alpha * (exp(x) - 1) where x is negative",
                      [](Args& args) -> std::unique_ptr<Operator> {
                        const double alpha = args.real("alpha", 1);
                        args.require(alpha >= 0,
                                     "alpha must not be negative: the gradient is taken from the sign of the output");
                        return std::make_unique<Eltwise>(Pointwise{dnnl::algorithm::eltwise_elu,
                                                                   dnnl::algorithm::eltwise_elu_use_dst_for_bwd,
                                                                   static_cast<float>(alpha), 0, true});
                      },
                      [] {
                        return std::vector<Problem>{{"elu", {{2, 5}}}, {"elu(alpha=0.3)", {{1, 3, 5, 7}}}};
                      }};

}  // namespace isobar::ops
