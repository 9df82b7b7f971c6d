// mirror: in training every second image, chosen at random, has left and right exchanged; never in a test.
#include <algorithm>

#include "isobar/transforms/transform.hpp"

namespace isobar::transforms {
namespace {

class Mirror final : public Transform {
 public:
  Shape infer(const Shape& x) const override {
    if (x.rank() < 2) fail("transform 'mirror': x is {}; an image has rows and columns", x.str());
    return x;
  }

  void apply(const Shape& shape, std::span<const float>, std::span<float> out, const Draw& draw) const override {
    if (!draw.training || draw.random.below(0, 2) == 0) return;
    const std::int64_t pixel = shape.count(2, shape.rank());
    for (std::int64_t row = 0; row < shape[0]; ++row) {
      float* left = out.data() + row * shape[1] * pixel;
      float* right = left + (shape[1] - 1) * pixel;
      for (; left < right; left += pixel, right -= pixel) std::swap_ranges(left, left + pixel, right);
    }
  }

  bool moves() const override { return true; }
};

}  // namespace

extern const Row<Transform> mirror;
const Row<Transform> mirror{"mirror", "exchanges left and right of every second image in training",
                            [](Args&) -> std::unique_ptr<Transform> { return std::make_unique<Mirror>(); }};

}  // namespace isobar::transforms
