#include "isobar/ops/block_shuffle.hpp"

#include "isobar/base/error.hpp"

namespace isobar::ops {

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

}  // namespace isobar::ops
