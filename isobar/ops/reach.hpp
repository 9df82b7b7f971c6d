// Reach: what the elements of an output axis read of every input, as intervals of whole numbers; and what is needed to
// compute a part of that axis as if the rest were there too. Axis 0 is never cut: it is that of the samples.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "isobar/tensor/shape.hpp"

namespace isobar::ops {

class Operator;

/// Elements of an axis from `begin` up to but not including `end`.
struct Interval {
  std::int64_t begin = 0, end = 0;
  std::int64_t extent() const { return end - begin; }
  bool empty() const { return begin >= end; }
  bool operator==(const Interval&) const = default;
};

struct Reach {
  struct Input {
    int axis = -1;                   ///< of this input; -1: all of it is read, whatever is cut
    std::vector<Interval> window{};  ///< for every element of the output axis, what it reads; empty: padding alone
    /// The smallest interval with all that these elements of the output axis read.
    Interval read_by(Interval out) const;
  };
  std::vector<Input> in{};  ///< data inputs, then weights, which are always read whole
  /// The axis is one of input 0, the output has none of that kind, and the parts' outputs are added up: losses.
  bool summed = false;
  /// While training, the operator takes statistics over the axis, which all parts have to take together.
  bool statistics = false;
  /// If set, an operator on a part's last data input. Its outputs, summed over all parts, are one more data input of
  /// the operators that compute the parts; it has no gradient.
  std::shared_ptr<const Operator> divisor{};
};

/// A part of an operator, cut along one axis.
struct Crop {
  int axis;                    ///< of the output, as in Operator::reach
  Interval out;                ///< the elements that the part computes
  std::vector<Shape> in;       ///< the inputs of the whole, weights included
  std::vector<Interval> read;  ///< for every input, the elements that the part gets; of an input read whole, nothing
  /// The inputs of the part.
  std::vector<Shape> part_shapes(const Reach& reach) const;
};

/// What computes a part, and what it has to be given.
struct OperatorPart {
  std::shared_ptr<const Operator> op;
  Reach reach;  ///< of the whole
  Crop crop;
};

/// The part of an operator that computes the elements `out` of an axis of its output. Throws Error if the operator
/// needs the whole axis, or if such a part would read padding alone.
OperatorPart cut_operator(const std::shared_ptr<const Operator>& op, int axis, Interval out, std::span<const Shape> in);

/// The first `data` inputs are read along `axis` at the same element that is computed; the others are read whole.
Reach same_elements(int axis, std::span<const Shape> in, std::size_t data = 1);

}  // namespace isobar::ops
