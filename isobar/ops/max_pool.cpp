// max_pool: the largest number under a sliding window, per channel; padding is never the maximum.
//   y[n, p, c] = max over k of x[n, p*stride + k*dilation - before, c];  dx = dy at the place of the maximum, else 0
// x [N, spatial..., C], y [N, positions..., C]. The k of the maximum is saved, in one byte per output if the window has
// at most 256 elements.
#include "isobar/ops/pool.hpp"

namespace isobar::ops {

extern const OperatorRow max_pool;
const OperatorRow max_pool{
    "max_pool", "the largest number under a sliding window",
    [](Args& args) -> std::unique_ptr<Operator> { return std::make_unique<Pool>(args, dnnl::algorithm::pooling_max); },
    [] {
      return std::vector<Problem>{
          {"max_pool", {{1, 6, 4, 8, 16}}},
          {"max_pool", {{2, 7, 5, 3}}},
          {"max_pool(window=3, stride=2, padding=same)", {{2, 7, 6, 5}}},
          {"max_pool(window=[3, 2], stride=[1, 2], padding=[1, 0])", {{1, 5, 6, 4}}},
          {"max_pool(window=2, stride=1, dilation=2)", {{1, 6, 7, 2}}},
          {"max_pool(window=3)", {{2, 9, 4}}},
          {"max_pool(window=3, stride=2, ceil=true)", {{2, 6, 7, 5}}},
          {"max_pool(window=3, stride=2, padding=1, ceil=true)", {{1, 6, 8, 5, 16}}},
      };
    }};

}  // namespace isobar::ops
