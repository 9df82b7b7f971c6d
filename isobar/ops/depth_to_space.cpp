// depth_to_space: channels become blocks of positions; with two spatial axes, block b and k = b*b:
//   y[n, h*b + i, w*b + j, c] = x[n, h, w, (i*b + j)*C + c]  (mode dcr)  or  x[n, h, w, c*k + i*b + j]  (mode crd)
// x [N, H, W, k*C], y [N, H*b, W*b, C]; dx is dy with the inverse order. Any number of spatial axes.
#include "isobar/ops/block_shuffle.hpp"

namespace isobar::ops {
namespace {

using Kind = Slot::Kind;

class DepthToSpace final : public Operator {
 public:
  explicit DepthToSpace(Args& args)
      : block_(args.integer("block", 2)), depth_first_(args.one_of("mode", "dcr", {"dcr", "crd"}) == "dcr") {
    args.require(block_ >= 1, "block must be at least 1");
  }

  std::vector<Shape> infer(std::span<const Shape> in) const override { return {shuffle(in[0]).wide}; }

  Kernel forward(const Setting& setting, std::span<const Operand> in) const override {
    const BlockShuffle s = shuffle(in[0].shape);
    return permute_kernel(setting, "forward", {Kind::x, 0}, s.deep, s.split, s.order, {Kind::y, 0}, s.wide);
  }

  std::vector<Kernel> backward(const Setting& setting, std::span<const Operand> in) const override {
    if (!in[0].needs_gradient) return {};
    const BlockShuffle s = shuffle(in[0].shape);
    return {permute_kernel(setting, "backward", {Kind::dy, 0}, s.wide, permuted(s.split, s.order),
                           inverse_order(s.order), {Kind::dx, 0}, s.deep)};
  }

 private:
  BlockShuffle shuffle(const Shape& x) const { return block_shuffle(x, true, block_, depth_first_); }

  std::int64_t block_;
  bool depth_first_;
};

}  // namespace

extern const OperatorRow depth_to_space;
const OperatorRow depth_to_space{
    "depth_to_space", "channels become blocks of positions",
    [](Args& args) -> std::unique_ptr<Operator> { return std::make_unique<DepthToSpace>(args); },
    [] {
      return std::vector<Problem>{{"depth_to_space", {{2, 3, 4, 12}}},
                                  {"depth_to_space(mode=crd)", {{2, 3, 4, 12}}},
                                  {"depth_to_space(block=3)", {{2, 5, 6}}},
                                  {"depth_to_space(mode=crd)", {{1, 2, 3, 2, 16}}}};
    }};

}  // namespace isobar::ops
