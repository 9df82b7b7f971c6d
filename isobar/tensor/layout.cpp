#include "isobar/tensor/layout.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <oneapi/dnnl/dnnl_debug.h>

#include "isobar/base/error.hpp"

namespace isobar {
namespace {

std::vector<std::int64_t> row_major_strides(const std::vector<std::int64_t>& extents) {
  std::vector<std::int64_t> strides(extents.size(), 1);
  for (std::size_t i = extents.size(); i-- > 1;) strides[i - 1] = strides[i] * std::max<std::int64_t>(1, extents[i]);
  return strides;
}

std::size_t bytes_of(Dtype type) { return dnnl::memory::data_type_size(type); }

bool is_row_major(const Layout& layout) {
  const auto& d = layout.data;
  if (d.format_kind != dnnl_blocked || d.format_desc.blocking.inner_nblks != 0) return false;
  std::int64_t expected = 1;
  for (int axis = d.ndims; axis-- > 0;) {
    if (d.padded_dims[axis] != d.dims[axis]) return false;
    if (d.dims[axis] != 1 && d.format_desc.blocking.strides[axis] != expected) return false;
    expected *= d.dims[axis];
  }
  return true;
}

}  // namespace

Layout plain(const Shape& shape, Dtype type) {
  if (shape.rank() == 0) return Layout({1}, type, dnnl::memory::dims{1});
  return Layout(shape.extents(), type, row_major_strides(shape.extents()));
}

Layout channels_last(const Shape& shape, Dtype type) {
  if (shape.rank() <= 2) return plain(shape, type);
  std::vector<std::int64_t> axes = shape.extents();
  std::vector<std::int64_t> strides = row_major_strides(axes);
  std::rotate(axes.begin() + 1, axes.end() - 1, axes.end());
  std::rotate(strides.begin() + 1, strides.end() - 1, strides.end());
  return Layout(axes, type, strides);
}

Layout any_layout(const std::vector<std::int64_t>& axes, Dtype type) {
  return Layout(axes, type, dnnl::memory::format_tag::any);
}

std::int64_t padded_count(const Layout& layout) { return layout.get_size() / bytes_of(layout.data_type()); }

bool same_bytes(const Layout& a, const Layout& b) {
  return a == b ||
         (is_row_major(a) && is_row_major(b) && a.data_type() == b.data_type() && a.get_size() == b.get_size());
}

std::string layout_text(const Layout& layout) {
  const auto& d = layout.data;
  const auto& blocking = d.format_desc.blocking;
  std::vector<int> order(d.ndims);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return blocking.strides[a] > blocking.strides[b]; });
  std::string text = fmt::format("{} ", dnnl_dt2str(d.data_type));
  for (const int axis : order) {
    const bool blocked = std::find(blocking.inner_idxs, blocking.inner_idxs + blocking.inner_nblks, axis) !=
                         blocking.inner_idxs + blocking.inner_nblks;
    text += static_cast<char>((blocked ? 'A' : 'a') + axis);
  }
  for (int i = 0; i < blocking.inner_nblks; ++i)
    text += fmt::format("{}{}", blocking.inner_blks[i], static_cast<char>('a' + blocking.inner_idxs[i]));
  return text;
}

}  // namespace isobar
