// crop(size=[h, w]): a part of an image: anywhere in training, the middle one in a test (Caffe's semantics). One number
// is a size in both directions. x [H, W, ...] -> [h, w, ...]; the middle begins at floor((H - h) / 2).
#include <algorithm>

#include "isobar/transforms/transform.hpp"

namespace isobar::transforms {
namespace {

class Crop final : public Transform {
 public:
  Crop(std::int64_t height, std::int64_t width) : height_(height), width_(width) {}

  Shape infer(const Shape& x) const override {
    if (x.rank() < 2 || x[0] < height_ || x[1] < width_)
      fail("transform 'crop': x is {}, too small to cut {} x {} out of it", x.str(), height_, width_);
    Shape cut = x;
    cut[0] = height_;
    cut[1] = width_;
    return cut;
  }

  void apply(const Shape& shape, std::span<const float> x, std::span<float> out, const Draw& draw) const override {
    const std::int64_t spare_rows = shape[0] - height_, spare_columns = shape[1] - width_;
    if (spare_rows == 0 && spare_columns == 0) return;
    const auto begin = [&](std::uint64_t axis, std::int64_t spare) {
      if (!draw.training) return spare / 2;
      return static_cast<std::int64_t>(draw.random.below(axis, static_cast<std::uint64_t>(spare) + 1));
    };
    const std::int64_t top = begin(0, spare_rows), left = begin(1, spare_columns);
    const std::int64_t pixel = shape.count(2, shape.rank());
    for (std::int64_t row = 0; row < height_; ++row)
      std::copy_n(x.data() + ((top + row) * shape[1] + left) * pixel, width_ * pixel,
                  out.data() + row * width_ * pixel);
  }

  bool moves() const override { return true; }

 private:
  std::int64_t height_, width_;
};

}  // namespace

extern const Row<Transform> crop;
const Row<Transform> crop{"crop", "a part of the image: anywhere in training, the middle in a test",
                          [](Args& args) -> std::unique_ptr<Transform> {
                            const std::vector<std::int64_t> size = args.integers("size", {});
                            args.require((size.size() == 1 || size.size() == 2) && std::ranges::min(size) > 0,
                                         "size = [height, width] or one number, above 0");
                            return std::make_unique<Crop>(size.front(), size.back());
                          }};

}  // namespace isobar::transforms
