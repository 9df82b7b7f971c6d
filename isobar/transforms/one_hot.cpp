// one_hot(classes=N): class numbers become rows of N numbers, 1 at the class and 0 elsewhere: y [1] -> [N], a map [H,
// W] or [H, W, 1] -> [H, W, N]. A number that is not a class is an Error that names it.
#include <algorithm>

#include "isobar/transforms/transform.hpp"

namespace isobar::transforms {
namespace {

class OneHot final : public Transform {
 public:
  explicit OneHot(std::int64_t classes) : classes_(classes) {}

  Grid infer(Grid field) const override {
    std::vector<std::int64_t> extents = field.shape.extents();
    const bool single = extents.size() != 2 || field.places != 2;  // [H, 1] is a map of one column
    if (single && !extents.empty() && extents.back() == 1) extents.pop_back();
    extents.push_back(classes_);
    field.shape = Shape(std::move(extents));
    field.channels = field.classes;
    return field;
  }

  std::optional<Box> source(const Grid& field, const Box& part, const Draw*) const override {
    Box places = Box::whole(field.shape);
    for (int axis = 0; axis + 1 < part.shape.rank(); ++axis)
      places = places.with(axis, part.begin[axis], part.shape[axis]);
    return places;
  }

  void apply(const Portion& at, std::span<const float> in, std::span<float> out, const Draw&) const override {
    const std::size_t width = at.to.shape[-1], first = at.to.begin.back();
    std::ranges::fill(out, 0.0f);
    for (std::size_t i = 0; i < in.size(); ++i)
      if (const std::size_t number = class_of(at.field, in[i]); number - first < width)
        out[i * width + number - first] = 1.0f;
  }

  std::string_view field() const override { return "y"; }
  bool in_place() const override { return false; }

 private:
  std::size_t class_of(const Grid& field, float value) const {
    const bool valid = value >= 0 && value < static_cast<float>(classes_);
    const auto number = static_cast<std::size_t>(valid ? value : 0.0f);
    if (!valid || static_cast<float>(number) != value)
      fail("transform 'one_hot': '{}' holds {}, which is no class; valid: 0 to {}", field.name, value, classes_ - 1);
    return number;
  }

  std::int64_t classes_;
};

}  // namespace

extern const Row<Transform> one_hot;
const Row<Transform> one_hot{"one_hot", "class numbers as rows of zeros and a one",
                             [](Args& args) -> std::unique_ptr<Transform> {
                               const std::int64_t classes = args.integer("classes");
                               args.require(classes >= 1 && classes <= 1'000'000, "classes of 1 to 1,000,000");
                               return std::make_unique<OneHot>(classes);
                             }};

}  // namespace isobar::transforms
