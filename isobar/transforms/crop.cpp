// crop(size=[h, w], random=true): a part of an image: at a random place in training, at the centre in a test (Caffe's
// semantics) and with random=false. Three numbers for a volume; one number is a size in all directions. The centre
// begins at floor((H - h) / 2). Maps of classes are cropped at the same place.
#include <algorithm>

#include "isobar/transforms/transform.hpp"

namespace isobar::transforms {
namespace {

class Crop final : public Transform {
 public:
  Crop(std::vector<std::int64_t> size, bool random) : size_(std::move(size)), random_(random) {}

  Grid infer(Grid field) const override {
    const std::size_t places = field.places;
    const std::string wish = size_.size() == 1 ? fmt::format("{}", size_[0]) : Shape(size_).str();
    if (places < 2 || places > 3 || (size_.size() != 1 && size_.size() != places))
      fail("transform 'crop': '{}' is {}; a size of {} would need {} and channels", field.name, field.shape.str(), wish,
           size_.size() == 3 ? "depth, rows, columns" : "rows, columns");
    for (int axis = 0; axis < field.places; ++axis) {
      if (field.shape[axis] < size(axis))
        fail("transform 'crop': '{}' is {}, too small to cut {} out of it", field.name, field.shape.str(), wish);
      field.shape[axis] = size(axis);
    }
    return field;
  }

  std::optional<Box> source(const Grid& field, const Box& part, const Draw* draw) const override {
    Box moved = part;
    for (int axis = 0; axis < field.places; ++axis) {
      if (draw) moved.begin[axis] += first(field, axis, *draw);
      else if (random_) moved.shape[axis] += field.shape[axis] - size(axis);  // also the middle is among these
      else moved.begin[axis] += (field.shape[axis] - size(axis)) / 2;
    }
    return moved;
  }

  void apply(const Portion& at, std::span<const float> in, std::span<float> out, const Draw& draw) const override {
    if (in.data() == out.data()) return;
    Box wanted = at.to;
    for (int axis = 0; axis < at.field.places; ++axis) wanted.begin[axis] += first(at.field, axis, draw);
    copy_box(at.from, in, wanted, out);
  }

  bool moves() const override { return true; }

 private:
  // Where the part begins in the field.
  std::int64_t first(const Grid& field, int axis, const Draw& draw) const {
    const std::int64_t spare = field.shape[axis] - size(axis);
    return draw.training && random_ ? static_cast<std::int64_t>(draw.random.below(axis, spare + 1)) : spare / 2;
  }
  std::int64_t size(int axis) const { return size_[size_.size() == 1 ? 0 : axis]; }

  std::vector<std::int64_t> size_;
  bool random_;
};

}  // namespace

extern const Row<Transform> crop;
const Row<Transform> crop{"crop", "a part of an image or volume: anywhere in training, the middle in a test",
                          [](Args& args) -> std::unique_ptr<Transform> {
                            const std::vector<std::int64_t> size = args.integers("size", {});
                            const bool random = args.flag("random", true);
                            args.require(!size.empty() && size.size() <= 3 && std::ranges::min(size) > 0,
                                         "size = [height, width], [depth, height, width] or one number, above 0");
                            return std::make_unique<Crop>(size, random);
                          }};

}  // namespace isobar::transforms
