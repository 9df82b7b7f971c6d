// clip, element by element:
//   y = min(max(x, low), high) with low = `min`, high = `max`;  dx = dy where low < x < high, else 0
#include <limits>

#include "isobar/ops/eltwise.hpp"

namespace isobar::ops {

extern const OperatorRow clip;
const OperatorRow clip{"clip", "x, kept between two bounds",
                       [](Args& args) -> std::unique_ptr<Operator> {
                         constexpr double largest = std::numeric_limits<float>::max();
                         const double low = args.real("min", -largest), high = args.real("max", largest);
                         args.require(low <= high, "min must not be larger than max");
                         return std::make_unique<Eltwise>(Pointwise{
                             dnnl::algorithm::eltwise_clip_v2, dnnl::algorithm::eltwise_clip_v2_use_dst_for_bwd,
                             static_cast<float>(low), static_cast<float>(high), true});
                       },
                       [] {
                         return std::vector<Problem>{{"clip(min=-0.3, max=0.55)", {{3, 5}}},
                                                     {"clip(min=0)", {{1, 3, 5, 7}}},
                                                     {"clip(max=0.21)", {{2, 9}}},
                                                     {"clip", {{2, 3}}}};
                       }};

}  // namespace isobar::ops
