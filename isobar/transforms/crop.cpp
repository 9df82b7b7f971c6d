// crop(size=[h, w], random=true): a part of an image: at a random place in training, at the centre in a test (Caffe's
// semantics) and with random=false. Three numbers for a volume; one number is a size in all directions. The centre
// begins at floor((H - h) / 2). Maps of classes are cropped at the same place.
#include <algorithm>
#include <array>

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

  void apply(const Grid& field, std::span<const float> in, std::span<float> out, const Draw& draw) const override {
    if (in.size() == out.size()) return;
    // A picture is a volume of one layer.
    std::array<std::int64_t, 3> whole{1, 1, 1}, cut{1, 1, 1}, begin{0, 0, 0};
    const int shift = 3 - field.places;
    for (int axis = 0; axis < field.places; ++axis) {
      const std::size_t a = axis + shift;
      whole[a] = field.shape[axis];
      cut[a] = size(axis);
      const std::int64_t spare = whole[a] - cut[a];
      begin[a] = draw.training && random_ ? static_cast<std::int64_t>(draw.random.below(axis, spare + 1)) : spare / 2;
    }
    const std::int64_t pixel = field.shape.count(field.places, field.shape.rank());
    float* to = out.data();
    for (std::int64_t layer = 0; layer < cut[0]; ++layer)
      for (std::int64_t row = 0; row < cut[1]; ++row) {
        const std::int64_t line = (begin[0] + layer) * whole[1] + begin[1] + row;
        to = std::copy_n(in.data() + (line * whole[2] + begin[2]) * pixel, cut[2] * pixel, to);
      }
  }

  bool moves() const override { return true; }

 private:
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
