// pow, element by element:
//   y = x^e;  dx = dy * e * x^(e - 1)
// x must be positive unless e is a whole number.
#include "isobar/ops/eltwise_of_input.hpp"

namespace isobar::ops {

extern const OperatorRow pow;
const OperatorRow pow{"pow", "x to the power of a number",
                      [](Args& args) -> std::unique_ptr<Operator> {
                        const double exponent = args.real("exponent", 2);
                        return std::make_unique<EltwiseOfInput>(dnnl::algorithm::eltwise_pow, 1.0f,
                                                                static_cast<float>(exponent));
                      },
                      [] {
                        return std::vector<Problem>{{"pow", {{2, 5}}},
                                                    {"pow(exponent=3)", {{1, 3, 5, 7}}},
                                                    {"pow(exponent=0.7)", {{4, 5}}, 0.1, 2},
                                                    {"pow(exponent=-1.5)", {{4, 5}}, 0.5, 2}};
                      }};

}  // namespace isobar::ops
