// Shape: the extents of a tensor in memory order. Activations are channels-last: [batch, spatial..., channels].
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace isobar {

class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<std::int64_t> extents) : extents_(extents) {}
  explicit Shape(std::vector<std::int64_t> extents) : extents_(std::move(extents)) {}

  int rank() const { return std::ssize(extents_); }
  /// Extent of one axis; negative axes count from the end.
  std::int64_t operator[](int axis) const { return extents_[index(axis)]; }
  std::int64_t& operator[](int axis) { return extents_[index(axis)]; }
  /// Number of elements; 1 for rank 0.
  std::int64_t count() const;
  /// Number of elements of the axes [first, last).
  std::int64_t count(int first, int last) const;
  const std::vector<std::int64_t>& extents() const { return extents_; }
  /// "2x128x128x128x4".
  std::string str() const;

  bool operator==(const Shape&) const = default;

 private:
  std::size_t index(int axis) const;
  std::vector<std::int64_t> extents_;
};

}  // namespace isobar
