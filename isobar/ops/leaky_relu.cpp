// leaky_relu, element by element:
//   y = x where x > 0, otherwise slope * x;  dx = dy where y > 0, otherwise slope * dy
// The sign of y determines that of x only for slope >= 0.
#include "isobar/ops/eltwise.hpp"

namespace isobar::ops {

extern const OperatorRow leaky_relu;
const OperatorRow leaky_relu{
    "leaky_relu", "x, or slope * x where x is negative",
    [](Args& args) -> std::unique_ptr<Operator> {
      const double slope = args.real("slope", 0.01);
      args.require(slope >= 0, "slope must not be negative: its gradient is taken from the sign of the output");
      return std::make_unique<Eltwise>(Pointwise{dnnl::algorithm::eltwise_relu,
                                                 dnnl::algorithm::eltwise_relu_use_dst_for_bwd,
                                                 static_cast<float>(slope), 0, true});
    },
    [] {
      return std::vector<Problem>{
          {"leaky_relu", {{3, 5}}}, {"leaky_relu(slope=0.3)", {{1, 4, 3, 2, 5}}}, {"leaky_relu(slope=0)", {{2, 9, 3}}}};
    }};

}  // namespace isobar::ops
