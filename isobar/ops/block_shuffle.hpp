// Channels as blocks of positions: the shapes and orders of depth_to_space and space_to_depth, channels last.
//   split  [N, s_1, .., s_d, b_1, .., b_d, C]  (dcr; crd: C before the b)   <->   joined [N, s_1, b_1, .., s_d, b_d, C]
#pragma once

#include <vector>

#include "isobar/ops/permute.hpp"

namespace isobar::ops {

/// How positions and channels are exchanged.
struct BlockShuffle {
  Shape deep, wide;        ///< [N, s.., b^d * C] and [N, s * b.., C]
  Shape split;             ///< `deep` with its channels split
  std::vector<int> order;  ///< axes of `split` in the order that forms `wide`
};

/// For x with many channels (`from_deep`) or with many positions.
BlockShuffle block_shuffle(const Shape& x, bool from_deep, std::int64_t block, bool depth_first);

}  // namespace isobar::ops
