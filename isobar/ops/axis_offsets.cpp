#include "isobar/ops/axis_offsets.hpp"

namespace isobar::ops {

std::vector<std::int64_t> axis_offsets(const Layout& layout, int axis) {
  const auto& blocking = layout.data.format_desc.blocking;
  std::vector<std::int64_t> offsets(layout.data.dims[axis]);
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    std::int64_t rest = i;
    std::int64_t inner_stride = 1;
    for (int b = blocking.inner_nblks; b-- > 0;) {
      if (blocking.inner_idxs[b] == axis) {
        offsets[i] += rest % blocking.inner_blks[b] * inner_stride;
        rest /= blocking.inner_blks[b];
      }
      inner_stride *= blocking.inner_blks[b];
    }
    offsets[i] += rest * blocking.strides[axis];
  }
  return offsets;
}

std::vector<std::int64_t> all_sums(const std::vector<std::vector<std::int64_t>>& lists) {
  std::vector<std::int64_t> sums{0};
  for (const auto& list : lists) {
    std::vector<std::int64_t> next;
    for (const std::int64_t base : sums)
      for (const std::int64_t offset : list) next.push_back(base + offset);
    sums = std::move(next);
  }
  return sums;
}

}  // namespace isobar::ops
