// pad: adds numbers before and after every axis: a constant, the nearest edge, or x reflected at the edge (which is not
// repeated).
//   y[i] = x[i - before] inside x, else the constant or the copied number;  dx is the sum of dy over all copies of x
// Negative numbers crop. `before` and `after` have an entry for every axis, including the batch.
#include "isobar/base/error.hpp"
#include "isobar/ops/index_map.hpp"

namespace isobar::ops {
namespace {

class Pad final : public Operator {
 public:
  explicit Pad(Args& args)
      : before_(args.integers("before", {})),
        after_(args.integers("after", before_)),
        mode_(args.one_of("mode", "constant", {"constant", "edge", "reflect"})),
        value_(static_cast<float>(args.real("value", 0))) {
    args.require(before_.size() == after_.size(), "before and after must have the same length");
  }

  std::vector<Shape> infer(std::span<const Shape> in) const override {
    const Shape& x = in[0];
    if (std::ssize(before_) != x.rank()) fail("before names {} axes, x = {} has {}", before_.size(), x.str(), x.rank());
    Shape y = x;
    for (int axis = 0; axis < x.rank(); ++axis) {
      const std::size_t a = axis;
      y[axis] += before_[a] + after_[a];
      if (y[axis] < 1)
        fail("cropping axis {} of x = {} by {} and {} leaves nothing", axis, x.str(), -before_[a], -after_[a]);
    }
    return {y};
  }

  // A reflection needs the edge that it is reflected at.
  std::optional<Reach> reach(int axis, std::span<const Shape> in) const override {
    if (mode_ == "reflect" && (before_[axis] > 0 || after_[axis] > 0)) return std::nullopt;
    return picked_reach(axis, sources(in[0])[axis]);
  }

  std::shared_ptr<const Operator> cropped(const Crop& crop) const override {
    auto part = std::make_shared<Pad>(*this);
    const std::int64_t before = before_[crop.axis] - crop.out.begin + crop.read[0].begin;
    part->before_[crop.axis] = before;
    part->after_[crop.axis] = crop.out.extent() - before - crop.read[0].extent();
    return part;
  }

  Kernel forward(const Setting&, std::span<const Operand> in) const override {
    return map(in[0].shape).forward(value_);
  }

  std::vector<Kernel> backward(const Setting&, std::span<const Operand> in) const override {
    return map(in[0].shape).backward(in[0].needs_gradient);
  }

 private:
  std::int64_t source(std::int64_t i, std::int64_t n) const {
    if (i >= 0 && i < n) return i;
    if (mode_ == "constant") return -1;
    if (mode_ == "edge" || n == 1) return i < 0 ? 0 : n - 1;
    const std::int64_t period = 2 * (n - 1), at = (i % period + period) % period;
    return at < n ? at : period - at;
  }

  IndexMap map(const Shape& x) const { return IndexMap(x, sources(x)); }

  std::vector<std::vector<std::int64_t>> sources(const Shape& x) const {
    const Shape y = infer(std::span(&x, 1))[0];
    std::vector<std::vector<std::int64_t>> sources;
    for (int axis = 0; axis < x.rank(); ++axis) {
      auto& list = sources.emplace_back();
      for (std::int64_t i = 0; i < y[axis]; ++i) list.push_back(source(i - before_[axis], x[axis]));
    }
    return sources;
  }

  std::vector<std::int64_t> before_, after_;
  std::string mode_;
  float value_;
};

}  // namespace

extern const OperatorRow pad{"pad",
                             "a constant, the edge or a reflection around x; or a crop",
                             make_member<Pad>,
                             {{"pad(before=[0, 1, 2, 0], after=[0, 2, 1, 0], value=0.5)", {{2, 3, 4, 3}}},
                              {"pad(before=[0, -1, 1], after=[0, 2, -2])", {{2, 3, 4}}},
                              {"pad(before=[0, 2, 3], after=[1, 1, 0], mode=edge)", {{2, 3, 4}}},
                              {"pad(before=[0, 2, 5, 0], after=[0, 1, 3, 0], mode=reflect)", {{1, 3, 4, 2}}}}};

}  // namespace isobar::ops
