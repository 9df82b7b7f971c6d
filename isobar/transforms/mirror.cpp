// mirror(axes=[-1]): in training, a random half of the images have left and right exchanged; never in a test. axes
// lists the axes that may be flipped, each by its own random choice: 0 is the first (top and bottom of an image), -1
// the last (left and right). Maps of classes are mirrored with the image.
#include <algorithm>

#include "isobar/transforms/transform.hpp"

namespace isobar::transforms {
namespace {

class Mirror final : public Transform {
 public:
  explicit Mirror(std::vector<std::int64_t> axes) : axes_(std::move(axes)) {}

  Grid infer(Grid field) const override {
    if (field.places < 2)
      fail("transform 'mirror': '{}' is {}; an image has rows and columns", field.name, field.shape.str());
    for (const std::int64_t axis : axes_)
      if (axis >= field.places || axis < -field.places)
        fail("transform 'mirror': '{}' is {} and has no axis {} of places; valid: {} to {}", field.name,
             field.shape.str(), axis, -field.places, field.places - 1);
    return field;
  }

  void apply(const Grid& field, std::span<const float>, std::span<float> out, const Draw& draw) const override {
    if (!draw.training) return;
    for (std::size_t i = 0; i < axes_.size(); ++i)
      if (draw.random.below(i, 2) == 1) exchange(field.shape, axes_[i] < 0 ? axes_[i] + field.places : axes_[i], out);
  }

  bool moves() const override { return true; }

 private:
  static void exchange(const Shape& shape, int axis, std::span<float> out) {
    const std::int64_t piece = shape.count(axis + 1, shape.rank()), line = shape[axis] * piece;
    for (float* first = out.data(); first != out.data() + out.size(); first += line) {
      float *low = first, *high = first + line - piece;
      for (; low < high; low += piece, high -= piece) std::swap_ranges(low, low + piece, high);
    }
  }

  std::vector<std::int64_t> axes_;
};

}  // namespace

extern const Row<Transform> mirror;
const Row<Transform> mirror{"mirror", "exchanges left and right, or other sides, of every second sample in training",
                            [](Args& args) -> std::unique_ptr<Transform> {
                              std::vector<std::int64_t> axes = args.integers("axes", {-1});
                              args.require(!axes.empty() && axes.size() <= 3, "axes with one to three numbers");
                              return std::make_unique<Mirror>(std::move(axes));
                            }};

}  // namespace isobar::transforms
