// Cutting tensors into pieces and joining them: Concat, Split, Slice, Compress, ReverseSequence.
#include <algorithm>
#include <numeric>

#include "isobar/onnx/functions.hpp"

namespace isobar::onnx {
namespace {

int concat_axis(const Call& call) { return checked_axis(call.node.integer("axis", 1), call[0].rank()); }

Arrays infer_concat(const Call& call) {
  const int axis = concat_axis(call);
  Dims dims = call[0].dims;
  dims[axis] = 0;
  for (std::size_t i = 0; i < call.in.size(); ++i) {
    Dims other = call[i].dims;
    if (other.size() == dims.size()) other[axis] = dims[axis];
    if (other != dims)
      fail("input {} is {}, which cannot be joined to {}", i, dims_text(call[i].dims), dims_text(call[0].dims));
    dims[axis] += call[i].dims[axis];
    checked_count(dims, "output");
  }
  return {described(call[0].type, dims)};
}
void fill_concat(const Call& call, Arrays& out) {
  const int axis = concat_axis(call);
  const Around whole_output = around(out[0].dims, axis);
  std::int64_t before = 0;
  for (std::size_t i = 0; i < call.in.size(); ++i) {
    const Array& x = call.known(i);
    const Around part = around(x.dims, axis);
    const std::int64_t row = part.extent * part.inner;
    for (std::int64_t o = 0; o < part.outer; ++o)
      std::copy_n(x.values.begin() + o * row, row,
                  out[0].values.begin() + (o * whole_output.extent + before) * part.inner);
    before += part.extent;
  }
}

int split_axis(const Call& call) { return checked_axis(call.node.integer("axis", 0), call[0].rank()); }

Arrays infer_split(const Call& call) {
  const int axis = split_axis(call);
  const std::int64_t extent = call[0].dims[axis];
  const auto parts = std::ssize(call.node.out);
  auto sizes = call.integers("split", 1);
  if (!sizes) {
    if (parts == 0 || extent % parts != 0) fail("an axis of {} cannot be split into {} equal parts", extent, parts);
    sizes.emplace(parts, extent / parts);
  }
  std::int64_t rest = extent;
  Arrays out;
  for (const std::int64_t size : *sizes) {
    if (size < 0 || size > rest) fail("an axis of {} cannot be split into {}", extent, dims_text(*sizes));
    rest -= size;
    Dims dims = call[0].dims;
    dims[axis] = size;
    out.push_back(described(call[0].type, dims));
  }
  if (rest != 0) fail("an axis of {} cannot be split into {}", extent, dims_text(*sizes));
  return out;
}
void fill_split(const Call& call, Arrays& out) {
  const Array& x = call.known(0);
  const int axis = split_axis(call);
  std::int64_t before = 0;
  for (Array& piece : out) {
    const Around part = around(piece.dims, axis);
    const std::int64_t row = part.extent * part.inner;
    for (std::int64_t o = 0; o < part.outer; ++o)
      std::copy_n(x.values.begin() + (o * x.dims[axis] + before) * part.inner, row, piece.values.begin() + o * row);
    before += part.extent;
  }
}

/// First element, step and number of elements along each axis.
struct Cut {
  Dims start, step, count;
};
Cut cut(const Call& call) {
  const Dims& dims = call[0].dims;
  const auto starts = call.integers("starts", 1), ends = call.integers("ends", 2),
             axes_given = call.integers("axes", 3);
  const auto steps = call.version < 10 ? std::nullopt : call.integers("steps", 4);
  if (!starts || !ends) fail("no starts or no ends are given");
  Integers axes(starts->size());
  std::iota(axes.begin(), axes.end(), 0);
  if (axes_given) axes = *axes_given;
  if (ends->size() != starts->size() || axes.size() != starts->size() || (steps && steps->size() != starts->size()))
    fail("starts, ends, axes and steps have {}, {}, {} and {} entries; they must have the same number", starts->size(),
         ends->size(), axes.size(), steps ? steps->size() : starts->size());
  checked_axes(axes, call[0].rank());
  Cut result{Dims(dims.size(), 0), Dims(dims.size(), 1), dims};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const int axis = checked_axis(axes[i], call[0].rank());
    const std::int64_t extent = dims[axis];
    // A step longer than the axis selects one element, as does the clamped step.
    const std::int64_t step = steps ? std::clamp((*steps)[i], -extent - 1, extent + 1) : 1;
    if (step == 0) fail("the step along axis {} is 0", axis);
    const auto place = [&](std::int64_t at) {
      if (at < 0) at += extent;
      return step > 0 ? std::clamp<std::int64_t>(at, 0, extent) : std::clamp<std::int64_t>(at, -1, extent - 1);
    };
    const std::int64_t start = place((*starts)[i]), end = place((*ends)[i]);
    const std::int64_t distance = step > 0 ? end - start : start - end, length = step > 0 ? step : -step;
    result.start[axis] = start;
    result.step[axis] = step;
    result.count[axis] = distance > 0 ? (distance + length - 1) / length : 0;
  }
  return result;
}
Arrays infer_slice(const Call& call) { return {described(call[0].type, cut(call).count)}; }
void fill_slice(const Call& call, Arrays& out) {
  const Array& x = call.known(0);
  const Cut part = cut(call);
  Dims strides = strides_of(x.dims);
  const std::int64_t first = offset(part.start, strides);
  for (std::size_t i = 0; i < strides.size(); ++i) strides[i] *= part.step[i];
  std::size_t i = 0;
  walk(out[0].dims, std::array{strides}, [&](const auto& at) { out[0].values[i++] = x.values[first + at[0]]; });
}

/// Which slices are kept; without an axis the tensor counts as one row.
Integers kept(const Call& call, std::int64_t extent) {
  const Array& condition = call.known(1);
  Integers result;
  for (std::size_t i = 0; i < condition.values.size(); ++i) {
    if (condition.values[i] == 0) continue;
    if (static_cast<std::int64_t>(i) >= extent) fail("condition {} of an axis of {} is true", i, extent);
    result.push_back(i);
  }
  return result;
}
Dims compressed_dims(const Call& call, int& axis) {
  if (!call.node.has("axis")) return axis = 0, Dims{call[0].count()};
  axis = checked_axis(call.node.integer("axis", 0), call[0].rank());
  return call[0].dims;
}
Arrays infer_compress(const Call& call) {
  int axis = 0;
  Dims dims = compressed_dims(call, axis);
  dims[axis] = std::ssize(kept(call, dims[axis]));
  // The flattened tensor may be longer than the limit of an axis; the part that is kept may not.
  return {described(call[0].type, dims)};
}
void fill_compress(const Call& call, Arrays& out) {
  const Array& x = call.known(0);
  int axis = 0;
  const Dims dims = compressed_dims(call, axis);
  const Around from = around(dims, axis);
  auto to = out[0].values.begin();
  const Integers rows = kept(call, from.extent);
  for (std::int64_t o = 0; o < from.outer; ++o)
    for (const std::int64_t row : rows)
      to = std::copy_n(x.values.begin() + (o * from.extent + row) * from.inner, from.inner, to);
}

Arrays infer_reverse(const Call& call) {
  const std::int64_t time = call.node.integer("time_axis", 0), batch = call.node.integer("batch_axis", 1);
  if (call[0].rank() < 2 || time < 0 || time > 1 || batch != 1 - time)
    fail("time axis {} and batch axis {} of {}; one must be 0, the other 1", time, batch, dims_text(call[0].dims));
  expect_dims(call, 1, {call[0].dims[batch]});
  return infer_same(call);
}
void fill_reverse(const Call& call, Arrays& out) {
  const Array &x = call.known(0), &lengths = call.known(1);
  const bool batch_first = call.node.integer("batch_axis", 1) == 0;
  const std::int64_t batches = x.dims[batch_first ? 0 : 1], times = x.dims[batch_first ? 1 : 0];
  const std::int64_t inner = product(std::span<const std::int64_t>(x.dims).subspan(2));
  for (std::int64_t b = 0; b < batches; ++b) {
    const std::int64_t length = whole(lengths.values[b]);
    if (length < 0 || length > times) fail("a sequence of length {} in {} steps", length, times);
    for (std::int64_t t = 0; t < times; ++t) {
      const std::int64_t from = t < length ? length - 1 - t : t;
      const auto row = [&](std::int64_t step) { return batch_first ? b * times + step : step * batches + b; };
      std::copy_n(x.values.begin() + row(from) * inner, inner, out[0].values.begin() + row(t) * inner);
    }
  }
}

}  // namespace

std::span<const Function> piece_functions() {
  static constexpr Function all[] = {
      function<infer_compress, fill_compress>("Compress"),
      function<infer_concat, fill_concat>("Concat"),
      function<infer_reverse, fill_reverse>("ReverseSequence"),
      function<infer_slice, fill_slice>("Slice"),
      function<infer_split, fill_split>("Split"),
  };
  return all;
}

}  // namespace isobar::onnx
