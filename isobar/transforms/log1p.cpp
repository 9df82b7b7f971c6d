// log1p: ln(1 + x), as for CosmoFlow's particle counts; numbers below -1 are an Error.
#include <algorithm>

#include "isobar/datasets/counts.hpp"
#include "isobar/transforms/transform.hpp"

namespace isobar::transforms {
namespace {

class Log1p final : public Transform {
 public:
  std::optional<Box> source(const Grid&, const Box& part, const Draw*) const override { return part; }
  void apply(const Portion& at, std::span<const float>, std::span<float> out, const Draw&) const override {
    unsigned below = 0;
    for (const float value : out) below |= value < -1.0f;
    if (below)
      fail("transform 'log1p': '{}' holds {}; the logarithm of 1 + x needs x of at least -1", at.field.name,
           *std::ranges::find_if(out, [](float value) { return value < -1.0f; }));
    datasets::apply_scaling(datasets::CountScaling::log, out);
  }
};

}  // namespace

extern const Row<Transform> log1p;
const Row<Transform> log1p{"log1p", "ln(1 + x), for counts",
                           [](Args&) -> std::unique_ptr<Transform> { return std::make_unique<Log1p>(); }};

}  // namespace isobar::transforms
