// log_softmax over one axis:
//   y_c = x_c - log(sum over d of exp(x_d));  dx_c = dy_c - exp(y_c) * sum over d of dy_d
#include "isobar/ops/softmax_axis.hpp"

namespace isobar::ops {

extern const OperatorRow log_softmax;
const OperatorRow log_softmax{
    "log_softmax", "logarithms of the probabilities over one axis",
    [](Args& args) -> std::unique_ptr<Operator> {
      return std::make_unique<SoftmaxAxis<dnnl::logsoftmax_forward, dnnl::logsoftmax_backward>>(args);
    },
    [] {
      return std::vector<Problem>{{"log_softmax", {{3, 5}}},
                                  {"log_softmax", {{1, 2, 17}}},
                                  {"log_softmax(axis=1)", {{2, 5, 3, 2}}},
                                  {"log_softmax(axis=0)", {{4, 18}}}};
    }};

}  // namespace isobar::ops
