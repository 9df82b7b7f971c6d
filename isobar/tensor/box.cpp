#include "isobar/tensor/box.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace isobar {

Box Box::whole(const Shape& shape) { return {std::vector<std::int64_t>(shape.rank(), 0), shape}; }

Box Box::none(const Shape& shape) {
  const std::vector<std::int64_t> zeros(shape.rank(), 0);
  return {zeros, Shape(zeros)};
}

bool Box::is_whole(const Shape& of) const {
  return shape == of && std::ranges::all_of(begin, [](std::int64_t first) { return first == 0; });
}

bool Box::is_inside(const Shape& of) const {
  if (shape.rank() != of.rank() || std::ssize(begin) != of.rank()) return false;
  for (int axis = 0; axis < of.rank(); ++axis)
    if (begin[axis] < 0 || shape[axis] < 0 || begin[axis] > of[axis] - shape[axis]) return false;
  return true;
}

bool Box::contains(const Box& other) const {
  if (other.count() == 0) return true;
  for (int axis = 0; axis < shape.rank(); ++axis)
    if (other.begin[axis] < begin[axis] || other.end(axis) > end(axis)) return false;
  return true;
}

Box Box::with(int axis, std::int64_t first, std::int64_t extent) const {
  Box changed = *this;
  changed.begin[at(axis)] = first;
  changed.shape[axis] = extent;
  return changed;
}

std::string Box::str() const {
  std::vector<std::string> ranges;
  for (int axis = 0; axis < shape.rank(); ++axis) ranges.push_back(fmt::format("{}:{}", begin[axis], end(axis)));
  return fmt::format("[{}]", fmt::join(ranges, ", "));
}

Box hull(const Box& a, const Box& b) {
  expects(a.shape.rank() == b.shape.rank(), "boxes of one array");
  Box both = a;
  for (int axis = 0; axis < a.shape.rank(); ++axis) {
    both.begin[axis] = std::min(a.begin[axis], b.begin[axis]);
    both.shape[axis] = std::max(a.end(axis), b.end(axis)) - both.begin[axis];
  }
  return both;
}

void copy_box(const Box& held, std::span<const float> from, const Box& wanted, std::span<float> out) {
  expects(std::ssize(from) == held.count() && std::ssize(out) == wanted.count(), "memory of the boxes' sizes");
  IndexArray at(wanted.begin);
  for (std::size_t a = 0; a < at.rank; ++a) at[a] -= held.begin[a];
  for_each_run(wanted.shape.extents(), held.shape.extents(), at, wanted.shape.extents(), IndexArray(at.rank),
               [&](std::int64_t source, std::int64_t target, std::int64_t count) {
                 std::copy_n(from.begin() + source, count, out.begin() + target);
               });
}

}  // namespace isobar
