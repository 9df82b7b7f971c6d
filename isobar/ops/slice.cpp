// slice: every step-th element of some axes, from begin up to but not including end, as in numpy.
//   y[.., j, ..] = x[.., begin + j * step, ..];  dx is dy at these places and 0 elsewhere
// Negative begin and end count from the end of the axis, then both are clamped to it; step may be negative.
#include <algorithm>
#include <cstdlib>

#include "isobar/ops/axes.hpp"
#include "isobar/ops/index_map.hpp"

namespace isobar::ops {
namespace {

class Slice final : public Operator {
 public:
  explicit Slice(Args& args)
      : axes_(args.integers("axes", {0})),
        begin_(args.integers("begin", std::vector<std::int64_t>(axes_.size(), 0))),
        end_(args.integers("end", std::vector<std::int64_t>(axes_.size(), std::int64_t{1} << 40))),
        step_(args.integers("step", std::vector<std::int64_t>(axes_.size(), 1))) {
    args.require(begin_.size() == axes_.size() && end_.size() == axes_.size() && step_.size() == axes_.size(),
                 "axes, begin, end and step must have the same length");
    args.require(std::find(step_.begin(), step_.end(), 0) == step_.end(), "step must not be 0");
  }

  std::vector<Shape> infer(std::span<const Shape> in) const override {
    const Shape& x = in[0];
    chosen_axes(axes_, x);
    Shape y = x;
    for (std::size_t k = 0; k < axes_.size(); ++k) {
      const int axis = fitted_axis(axes_[k], x);
      const auto [first, count] = picked(k, x[axis]);
      if (count < 1)
        fail("axis {} of x = {} has nothing from {} to {} by {}", axis, x.str(), begin_[k], end_[k], step_[k]);
      y[axis] = count;
    }
    return {y};
  }

  std::optional<Reach> reach(int axis, std::span<const Shape> in) const override {
    return picked_reach(axis, sources(in[0])[axis]);
  }

  // What the part reads begins and ends with elements that it picks.
  std::shared_ptr<const Operator> cropped(const Crop& crop) const override {
    auto part = std::make_shared<Slice>(*this);
    for (std::size_t k = 0; k < axes_.size(); ++k) {
      if (fitted_axis(axes_[k], crop.in[0]) != crop.axis) continue;
      part->begin_[k] = step_[k] > 0 ? 0 : crop.read[0].extent() - 1;
      part->end_[k] = step_[k] > 0 ? crop.read[0].extent() : -crop.read[0].extent() - 1;
    }
    return part;
  }

  Kernel forward(const Setting&, std::span<const Operand> in) const override { return map(in[0].shape).forward(); }

  std::vector<Kernel> backward(const Setting&, std::span<const Operand> in) const override {
    return map(in[0].shape).backward(in[0].needs_gradient);
  }

 private:
  struct Picked {
    std::int64_t first, count;
  };

  // The elements that the k-th slice picks from an axis of extent n.
  Picked picked(std::size_t k, std::int64_t n) const {
    const std::int64_t step = step_[k], lowest = step > 0 ? 0 : -1, highest = step > 0 ? n : n - 1;
    const auto place = [&](std::int64_t i) { return std::clamp(i < 0 ? i + n : i, lowest, highest); };
    const std::int64_t first = place(begin_[k]), last = place(end_[k]), way = step > 0 ? last - first : first - last;
    const std::int64_t stride = std::abs(step);
    return {first, way > 0 ? (way - 1) / stride + 1 : 0};
  }

  IndexMap map(const Shape& x) const { return IndexMap(x, sources(x)); }

  std::vector<std::vector<std::int64_t>> sources(const Shape& x) const {
    const Shape y = infer(std::span(&x, 1))[0];
    std::vector<std::vector<std::int64_t>> sources;
    for (int axis = 0; axis < x.rank(); ++axis) {
      auto& list = sources.emplace_back();
      for (std::int64_t i = 0; i < y[axis]; ++i) list.push_back(i);
    }
    for (std::size_t k = 0; k < axes_.size(); ++k) {
      const int axis = fitted_axis(axes_[k], x);
      const std::int64_t first = picked(k, x[axis]).first;
      for (std::int64_t& i : sources[axis]) i = first + i * step_[k];
    }
    return sources;
  }

  std::vector<std::int64_t> axes_, begin_, end_, step_;
};

}  // namespace

extern const OperatorRow slice{"slice",
                               "some elements of some axes, as numpy slices",
                               make_member<Slice>,
                               {{"slice(axes=[1], begin=[1], end=[3])", {{2, 5, 4}}},
                                {"slice(axes=[-1, 0], begin=[-3, 1], end=[100, 3])", {{4, 3, 5}}},
                                {"slice(axes=[2], begin=[-1], end=[-100], step=[-2])", {{2, 3, 8}}},
                                {"slice(axes=[0, 1], begin=[0, 1], end=[5, 9], step=[2, 3])", {{5, 9, 3}}}}};

}  // namespace isobar::ops
