// Shared by the files of functions: checks of axes, strides, loops over elements, and how to make a row of a table.
// A function has two parts: infer() describes its outputs, fill() computes their numbers.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "isobar/base/error.hpp"
#include "isobar/onnx/function.hpp"

namespace isobar::onnx {

using Arrays = std::vector<Array>;
using Integers = std::vector<std::int64_t>;

/// An output without numbers; throws Error if functions cannot handle the type or the extents.
Array described(Type type, Dims dims);
/// Fills described outputs with zeros; false if they have no elements.
bool allocate(Arrays& outputs);
/// Rounds every number to what its type holds.
void store(Arrays& outputs);

/// Infers, allocates zeros, fills and rounds. Outputs without elements are not filled, whatever their other extents.
template <auto infer, auto fill>
Arrays run_filled(const Call& call) {
  Arrays outputs = infer(call);
  if (allocate(outputs)) fill(call, outputs);
  store(outputs);
  return outputs;
}

/// The row of an operator.
template <auto infer, auto fill>
constexpr Function function(std::string_view op) {
  return {op, infer, run_filled<infer, fill>};
}

/// One output, of the type and dims of input 0.
Arrays infer_same(const Call& call);

/// The axis counted from the front; throws Error if a tensor of that rank has no such axis.
int checked_axis(std::int64_t axis, int rank);
/// The axes counted from the front, in ascending order; throws Error if one is out of range or named twice.
std::vector<int> checked_axes(std::span<const std::int64_t> axes, int rank);
/// Throws Error if input i has another rank.
void expect_rank(const Call& call, std::size_t i, int rank);
/// Throws Error if input i has other dims.
void expect_dims(const Call& call, std::size_t i, const Dims& dims);

/// A number of a tensor as an integer, clamped to +-2^62, so that adding an extent cannot overflow.
std::int64_t whole(double value);
/// The only number of input i.
double scalar(const Call& call, std::size_t i);
/// An index along an axis, where negative indices count from the end; throws Error if out of range.
std::int64_t checked_index(double value, std::int64_t extent);

/// Product of extents; `dims` must be part of dims that checked_count accepted.
std::int64_t product(std::span<const std::int64_t> dims);
/// Row-major strides.
Dims strides_of(const Dims& dims);
/// The dims that both broadcast to, as in numpy.
Dims broadcast(const Dims& a, const Dims& b);
/// Strides that read a tensor of dims `from` as if it had dims `to`; throws Error if it does not broadcast to them.
Dims broadcast_strides(const Dims& from, const Dims& to);

/// A tensor seen as [outer, extent, inner] around one axis.
struct Around {
  std::int64_t outer, extent, inner;
};
Around around(const Dims& dims, int axis);

/// Calls f(offsets) for every index of dims in row-major order, with one offset per set of strides.
template <std::size_t N, class F>
void walk(const Dims& dims, const std::array<Dims, N>& strides, F f) {
  for (const std::int64_t extent : dims)
    if (extent == 0) return;
  Dims index(dims.size());
  std::array<std::int64_t, N> at{};
  while (true) {
    f(at);
    std::size_t axis = dims.size();
    while (axis > 0) {
      --axis;
      for (std::size_t n = 0; n < N; ++n) at[n] += strides[n][axis];
      if (++index[axis] < dims[axis]) break;
      for (std::size_t n = 0; n < N; ++n) at[n] -= strides[n][axis] * dims[axis];
      index[axis] = 0;
      if (axis == 0) return;
    }
    if (dims.empty()) return;
  }
}

/// Calls f(index) for every index of dims in row-major order.
template <class F>
void for_each_index(const Dims& dims, F f) {
  for (const std::int64_t extent : dims)
    if (extent == 0) return;
  Dims index(dims.size());
  while (true) {
    f(std::as_const(index));
    std::size_t axis = dims.size();
    while (axis > 0 && ++index[axis - 1] == dims[axis - 1]) index[--axis] = 0;
    if (axis == 0) return;
  }
}

/// The sum of index times stride over all axes.
std::int64_t offset(const Dims& index, const Dims& strides);

}  // namespace isobar::onnx
