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

  std::optional<Box> source(const Grid& field, const Box& part, const Draw* draw) const override {
    Box moved = part;
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      if (draw && !flips(i, *draw)) continue;
      const int axis = axis_of(i, field);
      const Box other = moved.with(axis, field.shape[axis] - moved.end(axis), moved.shape[axis]);
      moved = draw ? other : hull(moved, other);
    }
    return moved;
  }

  void apply(const Portion& at, std::span<const float>, std::span<float> out, const Draw& draw) const override {
    for (std::size_t i = 0; i < axes_.size(); ++i)
      if (flips(i, draw)) exchange(at.to.shape, axis_of(i, at.field), out);
  }

  bool moves() const override { return true; }

 private:
  static bool flips(std::size_t i, const Draw& draw) { return draw.training && draw.random.below(i, 2) == 1; }
  int axis_of(std::size_t i, const Grid& field) const {
    return static_cast<int>(axes_[i] < 0 ? axes_[i] + field.places : axes_[i]);
  }
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
