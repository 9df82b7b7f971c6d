// softmax over one axis:
//   y_c = exp(x_c) / sum over d of exp(x_d);  dx_c = y_c * (dy_c - sum over d of dy_d * y_d)
#include "isobar/ops/softmax_axis.hpp"

namespace isobar::ops {

extern const OperatorRow softmax;
const OperatorRow softmax{"softmax", "probabilities over one axis",
                          [](Args& args) -> std::unique_ptr<Operator> {
                            return std::make_unique<SoftmaxAxis<dnnl::softmax_forward, dnnl::softmax_backward>>(args);
                          },
                          [] {
                            return std::vector<Problem>{{"softmax", {{3, 5}}},
                                                        {"softmax", {{2, 3, 4, 3}}},
                                                        {"softmax", {{1, 2, 17}}},
                                                        {"softmax(axis=1)", {{2, 5, 3}}},
                                                        {"softmax(axis=0)", {{4, 18}}},
                                                        {"softmax", {{7}}},
                                                        {"softmax(axis=-2)", {{2, 3, 4, 1}}}};
                          }};

}  // namespace isobar::ops
