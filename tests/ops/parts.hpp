// One operator with numbers for its inputs and weights, run as a whole and in parts cut along one axis.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "isobar/base/random.hpp"
#include "isobar/ops/reach.hpp"

#include "tests/ops/direct.hpp"

namespace isobar::ops {

using Floats = std::vector<float>;

/// The elements `cut` of an axis.
inline Floats taken(const Floats& x, const Shape& shape, int axis, Interval cut) {
  const std::int64_t inner = shape.count(axis + 1, shape.rank()), row = shape[axis] * inner;
  Floats part;
  for (std::int64_t first = 0; first < shape.count(); first += row)
    part.insert(part.end(), x.begin() + first + cut.begin * inner, x.begin() + first + cut.end * inner);
  return part;
}

/// Adds `part` to the elements `cut` of an axis.
inline void add_to(Floats& x, const Shape& shape, int axis, Interval cut, const Floats& part) {
  const std::int64_t inner = shape.count(axis + 1, shape.rank()), row = shape[axis] * inner;
  auto from = part.begin();
  for (std::int64_t first = 0; first < shape.count(); first += row)
    for (std::int64_t i = first + cut.begin * inner; i < first + cut.end * inner; ++i)
      x[static_cast<std::size_t>(i)] += *from++;
}

/// An operator and the numbers it computes with: data inputs, then weights.
struct UsedOperator {
  std::shared_ptr<const Operator> op;
  std::vector<Shape> data;
  std::vector<Floats> values{};
  bool picks = false;  ///< the last data input holds whole numbers
  Phase phase = Phase::training;

  /// All shapes: of data inputs, then of weights.
  std::vector<Shape> shapes() const {
    std::vector<Shape> all = data;
    for (const Parameter& p : op->parameters(data)) all.push_back(p.shape);
    return all;
  }
  std::vector<Shape> out() const { return op->infer(shapes()); }
  /// Whether input i has a gradient.
  bool trained(std::size_t i) const {
    if (i >= data.size()) return op->parameters(data)[i - data.size()].trained;
    return op->is_loss() ? i == 0 : !picks || i + 1 < data.size();
  }
};

/// Numbers for a problem: random ones within its bounds.
inline UsedOperator used(const Problem& problem) {
  UsedOperator use{make_operator(problem.spec), problem.in};
  use.picks = problem.last.high > problem.last.low;
  const std::vector<Shape> shapes = use.shapes();
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const Random random(31, i);
    const bool weight = i >= use.data.size(), whole = use.picks && i + 1 == use.data.size();
    // A variance is positive.
    const bool variance = weight && use.op->parameters(use.data)[i - use.data.size()].name == "variance";
    const double low = variance ? 0.5 : weight ? -1 : problem.low, high = variance ? 2 : weight ? 1 : problem.high;
    Floats& x = use.values.emplace_back();
    for (std::int64_t e = 0; e < shapes[i].count(); ++e) {
      const auto at = static_cast<std::uint64_t>(e);
      const auto count = static_cast<std::uint64_t>(problem.last.high - problem.last.low);
      x.push_back(whole ? static_cast<float>(problem.last.low + static_cast<std::int64_t>(random.below(at, count)))
                        : static_cast<float>(low + (high - low) * random.uniform(at)));
    }
  }
  return use;
}

/// What an operator computed: outputs, and gradients of the inputs that have one.
struct Computed {
  std::vector<Floats> y{}, dx{};
};

/// The gradient of output number i.
inline Floats made_gradient(const Shape& shape, std::size_t i) {
  Floats dy;
  for (std::int64_t e = 0; e < shape.count(); ++e)
    dy.push_back(static_cast<float>(Random(57, i).uniform(static_cast<std::uint64_t>(e)) - 0.3));
  return dy;
}

/// Runs it forward and, given gradients of its outputs, backward.
inline Computed compute(const UsedOperator& use, const std::vector<Floats>& dy) {
  Direct direct(use.op, use.data);
  direct.phase = use.phase;
  const std::vector<std::int64_t> samples{100, 107, 114, 121, 128, 135, 142};
  direct.moment.seed = 17;
  direct.moment.samples = samples;
  direct.moment.total = 5;
  direct.moment.rows = std::max<std::int64_t>(1, use.data[0][0] - 1);  // the last row is padding
  for (std::size_t i = 0; i < use.values.size(); ++i) {
    direct.in[i].needs_gradient = use.trained(i);
    std::ranges::copy(use.values[i], direct.x(static_cast<int>(i)).begin());
  }
  direct.forward();
  Computed got;
  for (std::size_t i = 0; i < direct.out.size(); ++i) {
    const auto y = direct.y(static_cast<int>(i));
    got.y.emplace_back(y.begin(), y.end());
    if (!dy.empty()) std::ranges::copy(dy[i], direct.dy(static_cast<int>(i)).begin());
  }
  if (!dy.empty()) direct.backward();
  for (std::size_t i = 0; i < use.values.size() && !dy.empty(); ++i) {
    got.dx.emplace_back();
    if (!use.trained(i)) continue;
    const auto dx = direct.dx(static_cast<int>(i));
    got.dx.back().assign(dx.begin(), dx.end());
  }
  EXPECT_TRUE(direct.intact());
  return got;
}

/// The part of `whole` that `part` describes, with what it reads; its divisor, if it needs one, is still missing.
inline UsedOperator used_part(const UsedOperator& whole, const OperatorPart& part) {
  UsedOperator use{part.op, part.crop.part_shapes(part.reach), {}, whole.picks, whole.phase};
  for (std::size_t i = 0; i < whole.values.size(); ++i) {
    const int axis = part.reach.in[i].axis;
    use.values.push_back(axis < 0 ? whole.values[i] : taken(whole.values[i], part.crop.in[i], axis, part.crop.read[i]));
  }
  use.data.resize(whole.data.size());
  return use;
}

/// The parts [0, cuts[0]), [cuts[0], cuts[1]), ... of an axis.
inline std::vector<UsedOperator> used_parts(const UsedOperator& whole, int axis, const std::vector<Interval>& cuts) {
  std::vector<UsedOperator> parts;
  float divisor = 0;
  std::shared_ptr<const Operator> counts;
  for (const Interval& cut : cuts) {
    const OperatorPart part = cut_operator(whole.op, axis, cut, whole.shapes());
    parts.push_back(used_part(whole, part));
    if (!part.reach.divisor) continue;
    counts = part.reach.divisor;
    divisor +=
        compute({counts, {parts.back().data.back()}, {parts.back().values.back()}, true, whole.phase}, {}).y[0][0];
  }
  for (UsedOperator& part : parts) {
    if (!counts) break;
    part.data.push_back({1});
    part.values.push_back({divisor});
  }
  return parts;
}

}  // namespace isobar::ops
