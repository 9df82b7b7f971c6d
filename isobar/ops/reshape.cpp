// reshape and flatten: another shape, without copying: `shape` has the axes after the batch, `whole` all axes including
// the batch. One extent may be -1, meaning whatever remains. flatten is reshape(shape=[-1]).
//   y = x;  dx = dy
#include <algorithm>

#include <fmt/ranges.h>

#include "isobar/base/error.hpp"
#include "isobar/ops/op.hpp"
#include "isobar/ops/view.hpp"

namespace isobar::ops {
namespace {

class Reshape final : public Operator {
 public:
  Reshape(bool whole, std::vector<std::int64_t> extents) : whole_(whole), extents_(std::move(extents)) {}
  explicit Reshape(Args& args)
      : whole_(args.has("whole")), extents_(whole_ ? args.integers("whole", {}) : args.integers("shape", {-1})) {
    args.require(std::count(extents_.begin(), extents_.end(), std::int64_t{-1}) <= 1, "a shape may hold -1 only once");
    args.require(std::all_of(extents_.begin(), extents_.end(), [](auto e) { return e >= 1 || e == -1; }),
                 "extents must be at least 1, or -1 for what is left");
  }

  std::vector<Shape> infer(std::span<const Shape> in) const override {
    if (!whole_ && in[0].rank() < 1) fail("x is a scalar, it needs a batch axis");
    const std::int64_t have = in[0].count(whole_ ? 0 : 1, in[0].rank());
    std::int64_t known = 1;
    for (const std::int64_t e : extents_)
      if (e > 0) known *= e;
    const bool open = std::find(extents_.begin(), extents_.end(), -1) != extents_.end();
    if (open ? have % known != 0 : have != known)
      fail("x = {} has {} numbers{}, which do not fit {} [{}]", in[0].str(), have, whole_ ? "" : " per sample",
           whole_ ? "whole" : "shape", fmt::join(extents_, ", "));
    std::vector<std::int64_t> y;
    if (!whole_) y.push_back(in[0][0]);
    for (const std::int64_t e : extents_) y.push_back(e > 0 ? e : have / known);
    return {Shape(y)};
  }

  Kernel forward(const Setting&, std::span<const Operand> in) const override {
    return forward_view(in[0].shape, result(in));
  }

  std::vector<Kernel> backward(const Setting&, std::span<const Operand> in) const override {
    if (!in[0].needs_gradient) return {};
    return {backward_view(result(in), in[0].shape)};
  }

 private:
  Shape result(std::span<const Operand> in) const { return infer(std::span(&in[0].shape, 1))[0]; }

  bool whole_;
  std::vector<std::int64_t> extents_;
};

}  // namespace

extern const OperatorRow flatten{
    "flatten",
    "all axes but the batch become one",
    [](Args&) -> std::unique_ptr<Operator> { return std::make_unique<Reshape>(false, std::vector<std::int64_t>{-1}); },
    {{"flatten", {{2, 3, 4, 5}}}, {"flatten", {{3, 7}}}}};

extern const OperatorRow reshape{"reshape",
                                 "another shape, of a sample or of the whole",
                                 make_member<Reshape>,
                                 {{"reshape(shape=[3, -1])", {{2, 12}}},
                                  {"reshape(shape=[2, 3, 4])", {{3, 4, 6}}},
                                  {"reshape(whole=[6, -1])", {{2, 3, 4}}}}};

}  // namespace isobar::ops
