// divide_by_mean: divides every sample by its own mean over all places and channels, as for CosmoFlow's first network:
// overdensities around 1. A sample whose mean is 0 or NaN is an Error.
#include <cmath>

#include "isobar/transforms/transform.hpp"

namespace isobar::transforms {
namespace {

class DivideByMean final : public Transform {
 public:
  void apply(const Portion& at, std::span<const float>, std::span<float> out, const Draw&) const override {
    // Independent sums, so that they are computed side by side; in double, since a float is too short for 8 million
    // counts.
    constexpr std::size_t lanes = 16;
    double sums[lanes] = {};
    std::size_t i = 0;
    for (; i + lanes <= out.size(); i += lanes)
      for (std::size_t lane = 0; lane < lanes; ++lane) sums[lane] += double{out[i + lane]};
    for (; i < out.size(); ++i) sums[0] += double{out[i]};
    double sum = 0;
    for (const double part : sums) sum += part;
    const double mean = sum / static_cast<double>(out.size());
    if (mean == 0 || !std::isfinite(mean))
      fail("transform 'divide_by_mean': the mean of '{}' is {}; it cannot be divided by", at.field.name, mean);
    const auto factor = static_cast<float>(1 / mean);
    for (float& value : out) value *= factor;
  }
};

}  // namespace

extern const Row<Transform> divide_by_mean;
const Row<Transform> divide_by_mean{
    "divide_by_mean", "every sample divided by its own mean",
    [](Args&) -> std::unique_ptr<Transform> { return std::make_unique<DivideByMean>(); }};

}  // namespace isobar::transforms
