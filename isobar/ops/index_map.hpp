// Operators that only pick elements, axis by axis: y[i, j, ...] = x[source_0[i], source_1[j], ...], or a constant where
// a source is -1. slice, pad and expand are such maps. The gradient of an element of x is the sum over all elements of
// y that picked it, in order; each element of dx is written by one thread.
#pragma once

#include <cstdint>
#include <vector>

#include "isobar/ops/op.hpp"

namespace isobar::ops {

/// Along an axis, elements of y read the elements of x that these sources name.
Reach picked_reach(int axis, const std::vector<std::int64_t>& sources);

class IndexMap {
 public:
  /// sources[a][i] is the index along axis a of x that index i of y picks, or -1.
  IndexMap(Shape x, std::vector<std::vector<std::int64_t>> sources);

  const Shape& x() const { return x_; }
  const Shape& y() const { return y_; }

  /// y from x; elements without a source become `fill`.
  void pick(const float* x, float* y, float fill) const;
  /// dx from dy; elements that were not picked become 0.
  void scatter(const float* dy, float* dx) const;

  /// pick() and scatter() as kernels of an operator with one input.
  Kernel forward(float fill = 0) const;
  std::vector<Kernel> backward(bool needs_gradient) const;

 private:
  // Consecutive elements of a row of y that pick consecutive elements of a row of x; from < 0: the constant.
  struct Piece {
    std::int64_t to, from, length;
  };

  Shape x_, y_;
  std::vector<std::vector<std::int64_t>> sources_;               // of the axes before the row
  std::vector<std::vector<std::vector<std::int64_t>>> pickers_;  // their inverse
  std::vector<Piece> pieces_;                                    // of a row
  std::int64_t x_row_ = 1, y_row_ = 1;                           // length of a row: the last axis that is picked from
};

}  // namespace isobar::ops
