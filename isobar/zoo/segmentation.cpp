#include "isobar/zoo/segmentation.hpp"

#include <fmt/format.h>

namespace isobar::zoo {

void require_steps(const Args& args, std::int64_t height, std::int64_t width, std::int64_t step) {
  args.require(
      height >= step && width >= step && height % step == 0 && width % step == 0,
      fmt::format("height and width must be multiples of {}, not {} and {}: the network shrinks them by that factor",
                  step, height, width));
}

Spec exascale_loss(std::int64_t classes) {
  if (classes != 3) return "softmax_cross_entropy(reduction=sum, scale=0.1)";
  constexpr double inverse[] = {1 / 0.991, 1 / 0.0266, 1 / 0.13};
  constexpr double sum = inverse[0] + inverse[1] + inverse[2];
  return fmt::format("softmax_cross_entropy(weights=[{:.6f}, {:.6f}, {:.6f}], reduction=sum, scale=0.1)",
                     inverse[0] / sum, inverse[1] / sum, inverse[2] / sum);
}

}  // namespace isobar::zoo
