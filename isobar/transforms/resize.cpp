// resize(size=[h, w], method=linear): brings an image or volume to another size. linear weights neighbours by a
// triangle that widens when a picture shrinks, so that every number contributes; nearest takes single numbers, and so
// does any method for fields other than x, such as maps of classes. Pixels are areas: the centre of the first is at
// half a pixel.
#include <algorithm>
#include <cmath>

#include "isobar/transforms/transform.hpp"

namespace isobar::transforms {
namespace {

/// The inputs of one number along an axis: `weights` of the numbers from `first` on.
struct Taps {
  std::vector<std::int64_t> first;
  std::vector<float> weights;  // `width` for each
  std::int64_t width = 1;
};

Taps nearest_taps(std::int64_t from, std::int64_t to) {
  Taps taps;
  for (std::int64_t i = 0; i < to; ++i) taps.first.push_back((2 * i + 1) * from / (2 * to));
  taps.weights.assign(to, 1.0f);
  return taps;
}

Taps linear_taps(std::int64_t from, std::int64_t to) {
  const double ratio = static_cast<double>(from) / to, reach = std::max(1.0, ratio);
  Taps taps;
  taps.width = std::min(from, static_cast<std::int64_t>(std::ceil(2 * reach)) + 1);
  for (std::int64_t i = 0; i < to; ++i) {
    const double middle = (static_cast<double>(i) + 0.5) * ratio - 0.5;
    const auto begin = static_cast<std::int64_t>(std::ceil(middle - reach));
    const std::int64_t first = std::clamp<std::int64_t>(begin, 0, from - taps.width);
    double sum = 0;
    std::vector<double> weights;
    for (std::int64_t k = first; k < first + taps.width; ++k)
      sum += weights.emplace_back(std::max(0.0, 1 - std::abs(static_cast<double>(k) - middle) / reach));
    for (const double weight : weights) taps.weights.push_back(static_cast<float>(weight / sum));
    taps.first.push_back(first);
  }
  return taps;
}

// Of the numbers from `first` up to, but not including, `last`, from inputs of which those from `begin` on are given.
void keep_taps(Taps& taps, std::int64_t first, std::int64_t last, std::int64_t begin) {
  taps.first.erase(taps.first.begin() + last, taps.first.end());
  taps.first.erase(taps.first.begin(), taps.first.begin() + first);
  taps.weights.erase(taps.weights.begin(), taps.weights.begin() + first * taps.width);
  for (std::int64_t& input : taps.first) input -= begin;
}

// Along one axis: `pieces` times [from, piece] -> [to, piece].
[[gnu::noinline]] void resize_axis(const float* in, float* out, std::int64_t pieces, std::int64_t from,
                                   std::int64_t piece, const Taps& taps) {
  const auto to = std::ssize(taps.first);
  for (std::int64_t p = 0; p < pieces; ++p, in += from * piece)
    for (std::int64_t i = 0; i < to; ++i, out += piece) {
      const float* source = in + taps.first[i] * piece;
      const float* weight = taps.weights.data() + i * taps.width;
      if (taps.width == 1) {
        std::copy_n(source, piece, out);
        continue;
      }
      for (std::int64_t k = 0; k < piece; ++k) out[k] = weight[0] * source[k];
      for (std::int64_t t = 1; t < taps.width; ++t) {
        source += piece;
        if (weight[t] == 0) continue;
        for (std::int64_t k = 0; k < piece; ++k) out[k] += weight[t] * source[k];
      }
    }
}

class Resize final : public Transform {
 public:
  Resize(std::vector<std::int64_t> size, bool nearest) : size_(std::move(size)), nearest_(nearest) {}

  Grid infer(Grid field) const override {
    if (field.places < 2 || (size_.size() != 1 && std::ssize(size_) != field.places))
      fail("transform 'resize': '{}' is {}; size has {} numbers, {} are needed, or one for all", field.name,
           field.shape.str(), size_.size(), std::max(2, field.places));
    for (int axis = 0; axis < field.places; ++axis) field.shape[axis] = size(axis);
    return field;
  }

  std::optional<Box> source(const Grid& field, const Box& part, const Draw*) const override {
    Box needed = part;
    for (int axis = 0; axis < field.places; ++axis) {
      if (field.shape[axis] == size(axis)) continue;
      const Taps taps = taps_of(field, axis);
      const std::int64_t first = taps.first[part.begin[axis]];
      needed = needed.with(axis, first, taps.first[part.end(axis) - 1] + taps.width - first);
    }
    return needed;
  }

  void apply(const Portion& at, std::span<const float> in, std::span<float> out, const Draw&) const override {
    thread_local std::vector<float> memory[2];
    // The last axis first: if it shrinks, the others become cheaper, and rows are contiguous.
    Shape shape = at.from.shape;
    const float* from = in.data();
    std::vector<int> axes;
    for (int axis = at.field.places - 1; axis >= 0; --axis)
      if (at.field.shape[axis] != size(axis)) axes.push_back(axis);
    if (axes.empty()) std::ranges::copy(in, out.begin());
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const int axis = axes[i];
      const std::int64_t before = shape[axis];
      shape[axis] = at.to.shape[axis];
      float* to = out.data();
      if (i + 1 < axes.size()) {
        memory[i % 2].resize(shape.count());
        to = memory[i % 2].data();
      }
      Taps taps = taps_of(at.field, axis);
      keep_taps(taps, at.to.begin[axis], at.to.end(axis), at.from.begin[axis]);
      resize_axis(from, to, shape.count(0, axis), before, shape.count(axis + 1, shape.rank()), taps);
      from = to;
    }
  }

  bool moves() const override { return true; }
  bool in_place() const override { return false; }

 private:
  Taps taps_of(const Grid& field, int axis) const {
    return nearest_ || field.exact ? nearest_taps(field.shape[axis], size(axis))
                                   : linear_taps(field.shape[axis], size(axis));
  }
  std::int64_t size(int axis) const { return size_[size_.size() == 1 ? 0 : axis]; }

  std::vector<std::int64_t> size_;
  bool nearest_;
};

}  // namespace

extern const Row<Transform> resize;
const Row<Transform> resize{
    "resize", "an image or volume brought to another size", [](Args& args) -> std::unique_ptr<Transform> {
      const std::vector<std::int64_t> size = args.integers("size", {});
      const bool nearest = args.one_of("method", "linear", {"linear", "nearest"}) == "nearest";
      args.require(!size.empty() && size.size() <= 3 && std::ranges::min(size) > 0 && std::ranges::max(size) <= 1 << 16,
                   "size = [height, width], [depth, height, width] or one number, each from 1 to 65536");
      return std::make_unique<Resize>(size, nearest);
    }};

}  // namespace isobar::transforms
