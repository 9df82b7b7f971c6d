#include "isobar/tensor/shape.hpp"

#include <fmt/format.h>

#include "isobar/base/error.hpp"

namespace isobar {

std::size_t Shape::index(int axis) const {
  if (axis < 0) axis += rank();
  expects(axis >= 0 && axis < rank(), "an axis of the shape");
  return axis;
}

std::int64_t Shape::count() const { return count(0, rank()); }

std::int64_t Shape::count(int first, int last) const {
  std::int64_t product = 1;
  for (int axis = first; axis < last; ++axis) product *= extents_[axis];
  return product;
}

std::string Shape::str() const { return extents_.empty() ? "scalar" : fmt::format("{}", fmt::join(extents_, "x")); }

}  // namespace isobar
