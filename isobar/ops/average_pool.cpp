// average_pool: the mean under a sliding window, per channel.
//   y[n, p, c] = 1/m * sum over k of x[n, p*stride + k*dilation - before, c];  dx = the transposed sum of dy/m
// x [N, spatial..., C], y [N, positions..., C]; m counts the elements of x under the window, or with include_padding
// all elements of the window up to the end of the padding.
#include "isobar/ops/pool.hpp"

namespace isobar::ops {

extern const OperatorRow average_pool;
const OperatorRow average_pool{
    "average_pool", "the mean under a sliding window",
    [](Args& args) -> std::unique_ptr<Operator> {
      return std::make_unique<Pool>(args, args.flag("include_padding", false)
                                              ? dnnl::algorithm::pooling_avg_include_padding
                                              : dnnl::algorithm::pooling_avg_exclude_padding);
    },
    [] {
      return std::vector<Problem>{
          {"average_pool", {{1, 6, 4, 8, 16}}},
          {"average_pool", {{2, 7, 5, 3}}},
          {"average_pool(window=3, stride=2, padding=same)", {{2, 7, 6, 5}}},
          {"average_pool(window=3, stride=2, padding=1, include_padding=true)", {{2, 7, 6, 5}}},
          {"average_pool(window=2, stride=1, dilation=2)", {{1, 6, 7, 2}}},
          {"average_pool(window=3)", {{2, 9, 4}}},
          {"average_pool(window=3, stride=2, ceil=true)", {{2, 6, 7, 5}}},
          {"average_pool(window=3, stride=2, padding=1, ceil=true, include_padding=true)", {{2, 6, 8, 16}}},
          {"average_pool(window=2, stride=3, dilation=2, ceil=true, include_padding=true)", {{1, 5, 3}}},
      };
    }};

}  // namespace isobar::ops
