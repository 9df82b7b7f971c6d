// space_to_depth: blocks of positions become channels; with two spatial axes and block b:
//   y[n, h, w, (i*b + j)*C + c] = x[n, h*b + i, w*b + j, c]
// x [N, H*b, W*b, C], y [N, H, W, b*b*C]; dx is dy with the inverse order. Any number of spatial axes.
#include "isobar/ops/block_shuffle.hpp"

namespace isobar::ops {
namespace {

using Kind = Slot::Kind;

class SpaceToDepth final : public Operator {
 public:
  explicit SpaceToDepth(Args& args) : block_(args.integer("block", 2)) {
    args.require(block_ >= 1, "block must be at least 1");
  }

  std::vector<Shape> infer(std::span<const Shape> in) const override { return {shuffle(in[0]).deep}; }

  Kernel forward(const Setting& setting, std::span<const Operand> in) const override {
    const BlockShuffle s = shuffle(in[0].shape);
    return permute_kernel(setting, "forward", {Kind::x, 0}, s.wide, permuted(s.split, s.order), inverse_order(s.order),
                          {Kind::y, 0}, s.deep);
  }

  std::vector<Kernel> backward(const Setting& setting, std::span<const Operand> in) const override {
    if (!in[0].needs_gradient) return {};
    const BlockShuffle s = shuffle(in[0].shape);
    return {permute_kernel(setting, "backward", {Kind::dy, 0}, s.deep, s.split, s.order, {Kind::dx, 0}, s.wide)};
  }

 private:
  BlockShuffle shuffle(const Shape& x) const { return block_shuffle(x, false, block_, true); }

  std::int64_t block_;
};

}  // namespace

extern const OperatorRow space_to_depth;
const OperatorRow space_to_depth{
    "space_to_depth", "blocks of positions become channels",
    [](Args& args) -> std::unique_ptr<Operator> { return std::make_unique<SpaceToDepth>(args); },
    [] {
      return std::vector<Problem>{{"space_to_depth", {{2, 6, 4, 3}}},
                                  {"space_to_depth(block=3)", {{2, 9, 2}}},
                                  {"space_to_depth", {{1, 2, 4, 6, 2}}}};
    }};

}  // namespace isobar::ops
