#include "isobar/ops/broadcast.hpp"

#include "isobar/base/error.hpp"
#include "isobar/ops/primitive.hpp"
#include "isobar/ops/reduction.hpp"
#include "isobar/ops/view.hpp"

namespace isobar::ops {
namespace {

std::int64_t aligned(const Shape& shape, int axis, int rank) {
  const int own = axis - (rank - shape.rank());
  return own < 0 ? 1 : shape[own];
}

}  // namespace

Shape broadcast_shape(std::span<const Shape> operands) {
  int rank = 0;
  for (const Shape& s : operands) rank = std::max(rank, s.rank());
  std::vector<std::int64_t> extents(rank, 1);
  for (std::size_t k = 0; k < operands.size(); ++k)
    for (int axis = 0; axis < rank; ++axis) {
      const std::int64_t own = aligned(operands[k], axis, rank);
      std::int64_t& common = extents[axis];
      if (own != 1 && common != 1 && own != common)
        fail("input {} is {}, input 0 is {}: counted from the last, axes must be equal or 1", k, operands[k].str(),
             operands[0].str());
      if (common == 1) common = own;
    }
  return Shape(extents);
}

Reach broadcast_reach(int axis, std::span<const Shape> in) {
  const Shape y = broadcast_shape(in);
  Reach reach{std::vector<Reach::Input>(in.size())};
  for (std::size_t k = 0; k < in.size(); ++k)
    if (aligned(in[k], axis, y.rank()) != 1 || y[axis] == 1)
      reach.in[k] = {axis - (y.rank() - in[k].rank()), same_elements(axis, std::span(&y, 1)).in[0].window};
  return reach;
}

BroadcastLoop::BroadcastLoop(const Shape& result, std::span<const Shape> operands)
    : count_(result.count()), extents_{1}, strides_(operands.size(), {0}) {
  const int rank = result.rank();
  std::vector<bool> moving(operands.size());
  std::vector<std::int64_t> step(operands.size(), 1);
  for (int axis = rank; axis-- > 0;) {
    if (result[axis] == 1) continue;
    std::vector<bool> now(operands.size());
    for (std::size_t k = 0; k < operands.size(); ++k) now[k] = aligned(operands[k], axis, rank) != 1;
    const bool first = extents_.size() == 1 && extents_[0] == 1;
    if (!first && now == moving) {
      extents_.front() *= result[axis];
    } else {
      if (!first) extents_.insert(extents_.begin(), 1);
      extents_.front() = result[axis];
      for (std::size_t k = 0; k < operands.size(); ++k) {
        if (first) strides_[k].clear();
        strides_[k].insert(strides_[k].begin(), now[k] ? step[k] : 0);
      }
      moving = now;
    }
    for (std::size_t k = 0; k < operands.size(); ++k)
      if (now[k]) step[k] *= result[axis];
  }
}

void BroadcastLoop::locate(std::int64_t element, Numbers& index, Numbers& at) const {
  std::fill(at.begin(), at.end(), 0);
  for (std::size_t axis = extents_.size(); axis-- > 0; element /= extents_[axis]) {
    index[axis] = element % extents_[axis];
    for (std::size_t k = 0; k < at.size(); ++k) at[k] += index[axis] * strides_[k][axis];
  }
}

Kernel sum_to(Slot from, const Shape& y, Slot to, const Shape& x) {
  if (x.count() == y.count()) return view("view of gradient", Category::backward_pointwise, from, y, to, x);
  std::vector<bool> reduced(y.rank());
  for (int axis = 0; axis < y.rank(); ++axis) reduced[axis] = aligned(x, axis, y.rank()) != y[axis];
  return {"sum over repeated axes",
          Category::backward_pointwise,
          {{from, plain(y)}},
          {{to, plain(x)}},
          static_cast<double>(y.count()),
          [plan = Reduction(y, reduced)](const Moment&, std::span<const dnnl::memory> m) {
            float* sums = floats(m[1]);
            fold_axes<SumOf>(plan, floats(m[0]),
                             [=](std::int64_t i, double sum) { sums[i] = static_cast<float>(sum); });
          }};
}

}  // namespace isobar::ops
