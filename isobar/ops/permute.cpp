#include "isobar/ops/permute.hpp"

#include <algorithm>

#include "isobar/ops/primitive.hpp"
#include "isobar/ops/view.hpp"

namespace isobar::ops {
namespace {

bool keeps_memory(const Shape& x, const std::vector<int>& order) {
  int last = -1;
  for (const int axis : order) {
    if (x[axis] == 1) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

}  // namespace

Shape permuted(const Shape& x, const std::vector<int>& order) {
  std::vector<std::int64_t> extents;
  for (const int axis : order) extents.push_back(x[axis]);
  return Shape(extents);
}

std::vector<int> inverse_order(const std::vector<int>& order) {
  std::vector<int> inverse(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) inverse[order[i]] = static_cast<int>(i);
  return inverse;
}

Kernel permute_kernel(const Setting& setting, std::string name, Slot from, const Shape& from_port, const Shape& x,
                      const std::vector<int>& order, Slot to, const Shape& to_port) {
  if (keeps_memory(x, order)) return view(std::move(name), Category::copy, from, from_port, to, to_port);
  // The result is described with the axes of x, so that strides alone express the order.
  const Layout source = plain(x);
  std::vector<std::int64_t> strides(x.rank());
  std::int64_t stride = 1;
  for (std::size_t i = order.size(); i-- > 0; stride *= x[order[i]]) strides[order[i]] = stride;
  const Layout result(x.extents(), Dtype::f32, strides);
  const auto chosen = planned(
      "transposition", [&] { return dnnl::reorder::primitive_desc(setting.engine, source, setting.engine, result); });
  const auto run = [reorder = dnnl::reorder(chosen), source, result, engine = setting.engine](
                       const Moment& moment, std::span<const dnnl::memory> m) {
    dnnl::memory a(source, engine, m[0].get_data_handle()), b(result, engine, m[1].get_data_handle());
    reorder.execute(moment.stream, a, b);
  };
  return {std::move(name), Category::copy, {{from, plain(from_port)}}, {{to, plain(to_port)}}, 0, run};
}

}  // namespace isobar::ops
