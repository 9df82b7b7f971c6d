// Broadcasting as in numpy: shapes are aligned at their last axes, and an axis that is 1 or missing is repeated.
// The result is traversed in rows along which every operand either moves by one or stands still. Axes that behave alike
// are merged, so that equal shapes, a scalar, a row over the channels or a number per position each become one or two
// plain loops.
#pragma once

#include <algorithm>
#include <span>
#include <type_traits>
#include <vector>

#include "isobar/base/loops.hpp"
#include "isobar/ops/op.hpp"

namespace isobar::ops {

/// The shape all operands are broadcast to; throws Error naming the first operand that does not fit.
Shape broadcast_shape(std::span<const Shape> operands);

/// Every input is read along the axis at the element that is computed, or, where it is repeated, whole.
Reach broadcast_reach(int axis, std::span<const Shape> in);

class BroadcastLoop {
 public:
  /// Each operand must be broadcastable to `result`.
  BroadcastLoop(const Shape& result, std::span<const Shape> operands);

  /// Whether operand k moves along a row (otherwise one number serves the whole row).
  bool moves(std::size_t k) const { return strides_[k].back() != 0; }

  /// Calls row(first element of the result, first element of each operand, length) for all rows, in parallel.
  template <class Row>
  void run(Row&& row) const {
    const std::int64_t inner = extents_.back();
    in_parts(count_, [&](std::int64_t begin, std::int64_t end) {
      std::vector<std::int64_t> at(strides_.size()), index(extents_.size());
      locate(begin, index, at);
      while (true) {
        const std::int64_t length = std::min(end - begin, inner - index.back());
        row(begin, at.data(), length);
        begin += length;
        if (begin == end) return;
        advance(index, at);
      }
    });
  }

 private:
  using Numbers = std::vector<std::int64_t>;
  // The index of an element of the result along every axis, and the position in each operand.
  void locate(std::int64_t element, Numbers& index, Numbers& at) const;
  // Moves to the beginning of the next row; if rows are short, this is cheaper than locate().
  void advance(Numbers& index, Numbers& at) const {
    for (std::size_t k = 0; k < at.size(); ++k) at[k] -= index.back() * strides_[k].back();
    index.back() = 0;
    for (std::size_t axis = extents_.size() - 1; axis-- > 0;) {
      ++index[axis];
      for (std::size_t k = 0; k < at.size(); ++k) at[k] += strides_[k][axis];
      if (index[axis] < extents_[axis]) return;
      for (std::size_t k = 0; k < at.size(); ++k) at[k] -= extents_[axis] * strides_[k][axis];
      index[axis] = 0;
    }
  }

  std::int64_t count_ = 1;
  std::vector<std::int64_t> extents_;               // of the merged axes
  std::vector<std::vector<std::int64_t>> strides_;  // of each operand, 0 where it stands still
};

/// Calls work(a, b) with strides that are compile-time constants, 0 or 1, so that the loop inside is compiled for them.
template <class Work>
void with_strides(bool a, bool b, Work&& work) {
  const std::integral_constant<int, 0> still;
  const std::integral_constant<int, 1> moving;
  if (a && b) return work(moving, moving);
  if (a) return work(moving, still);
  if (b) return work(still, moving);
  work(still, still);
}

/// The kernel that sums `from` [y] over all axes along which `to` [x] was broadcast; a view if there are none.
Kernel sum_to(Slot from, const Shape& y, Slot to, const Shape& x);

}  // namespace isobar::ops
