// Repeating or rearranging elements by index: Tile, Pad, DepthToSpace, SpaceToDepth, Trilu.
#include <algorithm>

#include "isobar/onnx/functions.hpp"

namespace isobar::onnx {
namespace {

Arrays infer_tile(const Call& call) {
  const auto repeats = call.integers("repeats", 1);
  if (!repeats || std::ssize(*repeats) != call[0].rank())
    fail("{} repeats for {}; there must be one per axis", repeats ? repeats->size() : 0, dims_text(call[0].dims));
  Dims dims = call[0].dims;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const std::int64_t times = (*repeats)[i];
    if (times < 0 || times > max_axis) fail("axis {} is repeated {} times", i, times);
    dims[i] *= times;
  }
  return {described(call[0].type, dims)};
}
void fill_tile(const Call& call, Arrays& out) {
  const Array& x = call.known(0);
  const Dims strides = strides_of(x.dims);
  std::size_t i = 0;
  for_each_index(out[0].dims, [&](const Dims& index) {
    std::int64_t at = 0;
    for (std::size_t axis = 0; axis < index.size(); ++axis) at += index[axis] % x.dims[axis] * strides[axis];
    out[0].values[i++] = x.values[at];
  });
}

/// Pads before and after every axis; negative pads crop.
Integers pads(const Call& call) {
  const auto given = call.integers("pads", 1);
  if (!given || given->size() != 2 * call[0].dims.size())
    fail("{} pads for {}; there must be two per axis", given ? given->size() : 0, dims_text(call[0].dims));
  for (const std::int64_t pad : *given)
    if (pad < -max_axis || pad > max_axis) fail("a pad of {} is beyond {}", pad, max_axis);
  return *given;
}
Arrays infer_pad(const Call& call) {
  const Integers around_axes = pads(call);
  const std::string mode = call.node.text("mode", "constant");
  if (mode != "constant" && mode != "reflect" && mode != "edge")
    fail("mode '{}'; constant, reflect and edge are valid", mode);
  Dims dims = call[0].dims;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 0 && mode != "constant") fail("axis {} of {} has nothing to pad with", i, dims_text(dims));
    dims[i] += around_axes[i] + around_axes[dims.size() + i];
  }
  return {described(call[0].type, dims)};
}
/// Where a padded element comes from; -1 for the constant.
std::int64_t source(std::int64_t at, std::int64_t extent, char mode) {
  if (at >= 0 && at < extent) return at;
  if (mode == 'c') return -1;
  if (mode == 'e') return std::clamp<std::int64_t>(at, 0, extent - 1);
  if (extent == 1) return 0;
  const std::int64_t period = 2 * (extent - 1);
  const std::int64_t folded = (at % period + period) % period;
  return folded < extent ? folded : period - folded;
}
void fill_pad(const Call& call, Arrays& out) {
  const Array& x = call.known(0);
  const Integers around_axes = pads(call);
  const char mode = call.node.text("mode", "constant")[0];
  const bool is_given = call.version >= 11 && call.has(2);
  const double constant = is_given ? scalar(call, 2) : call.node.number("value", 0);
  const Dims strides = strides_of(x.dims);
  std::size_t i = 0;
  for_each_index(out[0].dims, [&](const Dims& index) {
    std::int64_t at = 0;
    bool inside = true;
    for (std::size_t axis = 0; axis < index.size(); ++axis) {
      const std::int64_t from = source(index[axis] - around_axes[axis], x.dims[axis], mode);
      inside = inside && from >= 0;
      at += from * strides[axis];
    }
    out[0].values[i++] = inside ? x.values[at] : constant;
  });
}

std::int64_t block_size(const Call& call) {
  expect_rank(call, 0, 4);
  const std::int64_t block = call.node.integer("blocksize", 0);
  if (block < 1 || block > 65536) fail("blocksize {}; it must be positive", block);
  return block;
}
Arrays infer_depth_to_space(const Call& call) {
  const std::int64_t block = block_size(call);
  const Dims& d = call[0].dims;
  if (d[1] % (block * block) != 0) fail("{} channels are not a multiple of {}x{}", d[1], block, block);
  return {described(call[0].type, {d[0], d[1] / (block * block), d[2] * block, d[3] * block})};
}
void fill_depth_to_space(const Call& call, Arrays& out) {
  const Array& x = call.known(0);
  const std::int64_t block = block_size(call), channels = out[0].dims[1];
  const bool column_first = call.node.text("mode", "DCR") == "CRD";
  const Dims strides = strides_of(x.dims);
  std::size_t i = 0;
  for_each_index(out[0].dims, [&](const Dims& index) {
    const std::int64_t inner = index[2] % block * block + index[3] % block;
    const std::int64_t channel = column_first ? index[1] * block * block + inner : inner * channels + index[1];
    out[0].values[i++] = x.values[offset({index[0], channel, index[2] / block, index[3] / block}, strides)];
  });
}
Arrays infer_space_to_depth(const Call& call) {
  const std::int64_t block = block_size(call);
  const Dims& d = call[0].dims;
  if (d[2] % block != 0 || d[3] % block != 0) fail("{} is not a multiple of the block {}", dims_text(d), block);
  if (d[1] > max_axis / (block * block)) fail("{} channels times {}x{} are too many", d[1], block, block);
  return {described(call[0].type, {d[0], d[1] * block * block, d[2] / block, d[3] / block})};
}
void fill_space_to_depth(const Call& call, Arrays& out) {
  const Array& x = call.known(0);
  const std::int64_t block = block_size(call), channels = x.dims[1];
  const Dims strides = strides_of(x.dims);
  std::size_t i = 0;
  for_each_index(out[0].dims, [&](const Dims& index) {
    const std::int64_t inner = index[1] / channels;
    out[0].values[i++] = x.values[offset(
        {index[0], index[1] % channels, index[2] * block + inner / block, index[3] * block + inner % block}, strides)];
  });
}

Arrays infer_triangle(const Call& call) {
  if (call[0].rank() < 2) fail("{} is not a matrix", dims_text(call[0].dims));
  return infer_same(call);
}
void fill_triangle(const Call& call, Arrays& out) {
  const Array& x = call.known(0);
  const bool upper = call.node.integer("upper", 1) != 0;
  const std::int64_t k = call.has(1) ? whole(scalar(call, 1)) : 0;
  const std::int64_t rows = x.dims[x.dims.size() - 2], columns = x.dims.back();
  for (std::size_t i = 0; i < x.values.size(); ++i) {
    const std::int64_t at = i;
    const std::int64_t row = at / columns % rows, column = at % columns;
    const bool keep = upper ? column - row >= k : column - row <= k;
    out[0].values[i] = keep ? x.values[i] : 0;
  }
}

}  // namespace

std::span<const Function> spread_functions() {
  static constexpr Function all[] = {
      function<infer_depth_to_space, fill_depth_to_space>("DepthToSpace"),
      function<infer_pad, fill_pad>("Pad"),
      function<infer_space_to_depth, fill_space_to_depth>("SpaceToDepth"),
      function<infer_tile, fill_tile>("Tile"),
      function<infer_triangle, fill_triangle>("Trilu"),
  };
  return all;
}

}  // namespace isobar::onnx
