// depth_to_space and space_to_depth: channels become blocks of positions, and the reverse. With two spatial axes, block
// b and k = b*b, where x has C channels wide and k*C deep:
//   wide[n, h*b + i, w*b + j, c] = deep[n, h, w, (i*b + j)*C + c]  (mode dcr)  or  deep[n, h, w, c*k + i*b + j]  (crd)
// Each is the gradient of the other. Any number of spatial axes; space_to_depth knows mode dcr only.
#include "isobar/base/error.hpp"
#include "isobar/ops/permute.hpp"

namespace isobar::ops {
namespace {

using Kind = Slot::Kind;

// How positions and channels are exchanged:
//   split  [N, s_1, .., s_d, b_1, .., b_d, C]  (dcr; crd: C before the b)   <->   joined [N, s_1, b_1, .., s_d, b_d, C]
struct BlockShuffle {
  Shape deep, wide;        // [N, s.., b^d * C] and [N, s * b.., C]
  Shape split;             // `deep` with its channels split
  std::vector<int> order;  // axes of `split` in the order that forms `wide`
};

// For x with many channels (`from_deep`) or with many positions.
BlockShuffle block_shuffle(const Shape& x, bool from_deep, std::int64_t block, bool depth_first) {
  const int space = x.rank() - 2;
  if (space < 1) fail("x = {} must be [batch, spatial..., channels]", x.str());
  std::int64_t volume = 1;
  for (int a = 0; a < space; ++a) volume *= block;
  BlockShuffle s{x, x, {}, {0}};
  if (from_deep) {
    if (x[-1] % volume != 0)
      fail("x = {}: its {} channels are not a multiple of {}, the positions of a block", x.str(), x[-1], volume);
    s.wide[-1] /= volume;
    for (int a = 1; a <= space; ++a) s.wide[a] *= block;
  } else {
    for (int a = 1; a <= space; ++a) {
      if (x[a] % block != 0) fail("x = {}: axis {} is not a multiple of block = {}", x.str(), a, block);
      s.deep[a] /= block;
    }
    s.deep[-1] *= volume;
  }
  std::vector<std::int64_t> extents(s.deep.extents().begin(), s.deep.extents().end() - 1);
  if (!depth_first) extents.push_back(s.wide[-1]);
  extents.insert(extents.end(), space, block);
  if (depth_first) extents.push_back(s.wide[-1]);
  s.split = Shape(extents);
  const int blocks = 1 + space + (depth_first ? 0 : 1);
  for (int a = 0; a < space; ++a) {
    s.order.push_back(1 + a);
    s.order.push_back(blocks + a);
  }
  s.order.push_back(depth_first ? 1 + 2 * space : 1 + space);
  return s;
}

template <bool from_deep>
class ShuffleBlocks final : public Operator {
 public:
  explicit ShuffleBlocks(Args& args) : block_(args.integer("block", 2)) {
    if (from_deep) depth_first_ = args.one_of("mode", "dcr", {"dcr", "crd"}) == "dcr";
    args.require(block_ >= 1, "block must be at least 1");
  }

  std::vector<Shape> infer(std::span<const Shape> in) const override {
    const BlockShuffle s = shuffle(in[0]);
    return {from_deep ? s.wide : s.deep};
  }

  // Positions of space_to_depth read whole blocks; a part of depth_to_space would need to begin and end with a block.
  std::optional<Reach> reach(int axis, std::span<const Shape> in) const override {
    if (from_deep || axis == in[0].rank() - 1) return std::nullopt;
    Reach reach{{{axis, {}}}};
    for (std::int64_t e = 0; e < in[0][axis]; e += block_) reach.in[0].window.push_back({e, e + block_});
    return reach;
  }

  Kernel forward(const Setting& setting, std::span<const Operand> in) const override {
    return kernel(setting, "forward", in[0].shape, from_deep, {Kind::x, 0}, {Kind::y, 0});
  }

  std::vector<Kernel> backward(const Setting& setting, std::span<const Operand> in) const override {
    if (!in[0].needs_gradient) return {};
    return {kernel(setting, "backward", in[0].shape, !from_deep, {Kind::dy, 0}, {Kind::dx, 0})};
  }

 private:
  BlockShuffle shuffle(const Shape& x) const { return block_shuffle(x, from_deep, block_, depth_first_); }

  Kernel kernel(const Setting& setting, const char* name, const Shape& x, bool widens, Slot from, Slot to) const {
    const BlockShuffle s = shuffle(x);
    if (widens) return permute_kernel(setting, name, from, s.deep, s.split, s.order, to, s.wide);
    return permute_kernel(setting, name, from, s.wide, permuted(s.split, s.order), inverse_order(s.order), to, s.deep);
  }

  std::int64_t block_;
  bool depth_first_ = true;
};

}  // namespace

extern const OperatorRow depth_to_space{"depth_to_space",
                                        "channels become blocks of positions",
                                        make_member<ShuffleBlocks<true>>,
                                        {{"depth_to_space", {{2, 3, 4, 12}}},
                                         {"depth_to_space(mode=crd)", {{2, 3, 4, 12}}},
                                         {"depth_to_space(block=3)", {{2, 5, 6}}},
                                         {"depth_to_space(mode=crd)", {{1, 2, 3, 2, 16}}}}};

extern const OperatorRow space_to_depth{"space_to_depth",
                                        "blocks of positions become channels",
                                        make_member<ShuffleBlocks<false>>,
                                        {{"space_to_depth", {{2, 6, 4, 3}}},
                                         {"space_to_depth(block=3)", {{2, 9, 2}}},
                                         {"space_to_depth", {{1, 2, 4, 6, 2}}}}};

}  // namespace isobar::ops
