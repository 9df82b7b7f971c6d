// Boxes: parts of arrays, given by a first index and an extent along each axis, walked as runs of contiguous numbers.
// Arrays are in C order: the last axis is the fastest.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "isobar/base/error.hpp"
#include "isobar/tensor/shape.hpp"

namespace isobar {

/// A part of an array. A box without numbers is valid: it asks for nothing.
struct Box {
  std::vector<std::int64_t> begin{};  ///< the first index along each axis
  Shape shape{};                      ///< its extents

  /// All of an array of that shape.
  static Box whole(const Shape& shape);
  /// Nothing of an array of that shape.
  static Box none(const Shape& shape);
  /// The first index after it along an axis; negative axes count from the end, here and below.
  std::int64_t end(int axis) const { return begin[at(axis)] + shape[axis]; }
  std::int64_t count() const { return shape.count(); }
  bool is_whole(const Shape& of) const;
  bool is_inside(const Shape& of) const;
  /// Whether all of a box of the same array lies in this one; one without numbers always does.
  bool contains(const Box& other) const;
  /// The same box with another range along one axis.
  Box with(int axis, std::int64_t first, std::int64_t extent) const;
  /// "[0:64, 32:64]": first indices, and those after the last.
  std::string str() const;

  bool operator==(const Box&) const = default;

 private:
  std::size_t at(int axis) const { return axis < 0 ? axis + shape.rank() : axis; }
};

/// The smallest box that contains both.
Box hull(const Box& a, const Box& b);

/// Copies the box `wanted` out of `from`, which holds the box `held` of the same array; `wanted` lies in it.
void copy_box(const Box& held, std::span<const float> from, const Box& wanted, std::span<float> out);

/// The most axes an array may have.
inline constexpr std::size_t most_axes = 32;

using Indices = std::span<const std::int64_t>;

/// One index per axis, on the stack.
struct IndexArray {
  std::array<std::int64_t, most_axes> at{};
  std::size_t rank = 0;

  explicit IndexArray(std::size_t axes) : rank(axes) { expects(axes <= most_axes, "at most 32 axes"); }
  explicit IndexArray(Indices from) : IndexArray(from.size()) {
    for (std::size_t a = 0; a < rank; ++a) at[a] = from[a];
  }
  std::int64_t& operator[](std::size_t axis) { return at[axis]; }
  std::int64_t operator[](std::size_t axis) const { return at[axis]; }
  operator Indices() const { return {at.data(), rank}; }
};

/// The flat position of the number at `index` in an array of these extents.
inline std::int64_t flat_index(Indices extents, Indices index) {
  std::int64_t flat = 0;
  for (std::size_t a = 0; a < extents.size(); ++a) flat = flat * extents[a] + index[a];
  return flat;
}

/// Numbers in a box; 1 for no axes.
inline std::int64_t box_count(Indices extent) {
  std::int64_t count = 1;
  for (const std::int64_t n : extent) count *= n;
  return count;
}

/// The first axis from which on a box is one run in both arrays.
inline std::size_t run_axis(Indices extent, Indices source, Indices target) {
  std::size_t axis = extent.size();
  while (axis > 0) {
    --axis;
    if (extent[axis] != source[axis] || extent[axis] != target[axis]) break;
  }
  return axis;
}

/// Calls run(source, target, count) for every run of the box `extent` that is at `source_at` in an array of extents
/// `source` and at `target_at` in one of extents `target`; run's arguments are flat positions and a number of elements.
template <class Run>
void for_each_run(Indices extent, Indices source, Indices source_at, Indices target, Indices target_at, Run run) {
  if (box_count(extent) == 0) return;
  const std::size_t outer = run_axis(extent, source, target);
  const std::int64_t count = box_count(extent.subspan(outer));
  std::array<std::int64_t, most_axes> source_step{}, target_step{}, at{};
  std::int64_t from = 1, to = 1;
  for (std::size_t a = extent.size(); a-- > 0;) {
    source_step[a] = from, target_step[a] = to;
    from *= source[a], to *= target[a];
  }
  from = flat_index(source, source_at), to = flat_index(target, target_at);
  while (true) {
    run(from, to, count);
    std::size_t a = outer;
    while (a > 0) {
      --a;
      from += source_step[a], to += target_step[a];
      if (++at[a] < extent[a]) break;
      from -= extent[a] * source_step[a], to -= extent[a] * target_step[a];
      at[a] = 0;
      if (a == 0) return;
    }
    if (outer == 0) return;
  }
}

}  // namespace isobar
