#include "isobar/ops/group_layout.hpp"

#include <algorithm>

namespace isobar::ops {

std::optional<Layout> group_layout(const Layout& grouped) {
  if (grouped.data.format_kind != dnnl_blocked || grouped.data.ndims < 3) return std::nullopt;
  Layout one = grouped;
  auto& d = one.data;
  auto& blocking = d.format_desc.blocking;
  if (d.padded_dims[0] != d.dims[0] || d.offset0 != 0) return std::nullopt;
  const auto drop_first = [&](auto& list) { std::copy(list + 1, list + d.ndims, list); };
  const std::int64_t apart = blocking.strides[0];
  drop_first(d.dims);
  drop_first(d.padded_dims);
  drop_first(d.padded_offsets);
  drop_first(blocking.strides);
  --d.ndims;
  for (int b = 0; b < blocking.inner_nblks; ++b)
    if (blocking.inner_idxs[b]-- == 0) return std::nullopt;  // groups are interleaved
  if (padded_count(one) != apart) return std::nullopt;
  return one;
}

}  // namespace isobar::ops
