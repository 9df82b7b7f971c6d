// swap_channels: reverses the order of the channels: red, green, blue become blue, green, red, as networks trained by
// Caffe expect.
#include <algorithm>

#include "isobar/transforms/transform.hpp"

namespace isobar::transforms {
namespace {

class SwapChannels final : public Transform {
 public:
  Grid infer(Grid field) const override {
    std::ranges::reverse(field.channels);
    return field;
  }

  std::optional<Box> source(const Grid& field, const Box& part, const Draw*) const override {
    return part.with(-1, field.shape[-1] - part.end(-1), part.shape[-1]);
  }

  void apply(const Portion& at, std::span<const float>, std::span<float> out, const Draw&) const override {
    const std::ptrdiff_t channels = at.to.shape[-1];
    for (auto pixel = out.begin(); pixel != out.end(); pixel += channels) std::reverse(pixel, pixel + channels);
  }
};

}  // namespace

extern const Row<Transform> swap_channels;
const Row<Transform> swap_channels{
    "swap_channels", "channels in reverse order: RGB becomes BGR",
    [](Args&) -> std::unique_ptr<Transform> { return std::make_unique<SwapChannels>(); }};

}  // namespace isobar::transforms
