// scale(by=1): x times a number, for example 1/256 = 0.00390625 for bytes.
#include "isobar/transforms/transform.hpp"

namespace isobar::transforms {
namespace {

class Scale final : public Transform {
 public:
  explicit Scale(double by) : by_(static_cast<float>(by)) {}

  std::optional<Box> source(const Grid&, const Box& part, const Draw*) const override { return part; }
  void apply(const Portion&, std::span<const float>, std::span<float> out, const Draw&) const override {
    for (float& value : out) value *= by_;
  }

 private:
  float by_;
};

}  // namespace

extern const Row<Transform> scale;
const Row<Transform> scale{"scale", "times a number", [](Args& args) -> std::unique_ptr<Transform> {
                             return std::make_unique<Scale>(args.real("by", 1));
                           }};

}  // namespace isobar::transforms
