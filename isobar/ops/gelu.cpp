// gelu, element by element; P is the distribution function of the normal distribution:
//   erf:  y = x * P(x) = x/2 * (1 + erf(x / sqrt 2));  dx = dy * (P(x) + x * exp(-x^2/2) / sqrt(2 pi))
//   tanh: y = x/2 * (1 + t), t = tanh(u), u = sqrt(2/pi) * (x + 0.044715 x^3), close to erf and cheaper
//         dx = dy * ((1 + t)/2 + x/2 * (1 - t^2) * u'),  u' = sqrt(2/pi) * (1 + 0.134145 x^2)
#include "isobar/ops/eltwise_of_input.hpp"

namespace isobar::ops {

extern const OperatorRow gelu;
const OperatorRow gelu{"gelu", "x times the normal distribution function of x",
                       [](Args& args) -> std::unique_ptr<Operator> {
                         const bool exact = args.one_of("kind", "tanh", {"tanh", "erf"}) == "erf";
                         return std::make_unique<EltwiseOfInput>(exact ? dnnl::algorithm::eltwise_gelu_erf
                                                                       : dnnl::algorithm::eltwise_gelu_tanh);
                       },
                       [] {
                         return std::vector<Problem>{{"gelu", {{2, 5}}},
                                                     {"gelu", {{1, 3, 5, 7}}, -4, 4},
                                                     {"gelu(kind=erf)", {{3, 5}}},
                                                     {"gelu(kind=erf)", {{1, 3, 5, 7}}, -4, 4}};
                       }};

}  // namespace isobar::ops
