// reduce_scatter: the sum of what all ranks have of an axis, of which each wants some rows.
//   y = the rows bounds[rank] to bounds[rank + 1] of the sum of x over ranks;  dx = the dy of all ranks, one behind the
//   other
#include <algorithm>

#include "isobar/ops/moved_rows.hpp"

namespace isobar::ops {
namespace {

using Kind = Slot::Kind;

class ReduceScatter final : public Operator {
 public:
  explicit ReduceScatter(Args& args) : rows_{Seat(args), static_cast<int>(args.integer("axis")), {}, {}, true} {
    const std::vector<std::int64_t> bounds = args.integers("bounds", {});
    args.require(rows_.axis >= 1, "axis must be at least 1");
    args.require(std::ssize(bounds) == rows_.seat.ranks + 1 && bounds[0] == 0,
                 "bounds must list 0 and, for each rank, the row after its last");
    args.require(std::ranges::is_sorted(bounds, std::less_equal()), "every rank must want some rows");
    for (int rank = 0; rank < rows_.seat.ranks; ++rank) {
      rows_.from.push_back({0, bounds.back()});
      rows_.to.push_back({bounds[rank], bounds[rank + 1]});
    }
  }

  std::vector<Shape> infer(std::span<const Shape> in) const override {
    if (rows_.axis >= in[0].rank() || in[0][rows_.axis] != rows_.from[0].end)
      fail("x = {} does not have {} rows along axis {}", in[0].str(), rows_.from[0].end, rows_.axis);
    Shape y = in[0];
    y[rows_.axis] = rows_.to[rows_.seat.rank].extent();
    return {y};
  }

  std::vector<Kernel> forwards(const Setting&, std::span<const Operand> in) const override {
    return rows_.kernels({Kind::x, 0}, in[0].shape, {Kind::y, 0}, forward_talk(rows_.seat), 0);
  }

  std::vector<Kernel> backward(const Setting&, std::span<const Operand> in) const override {
    if (!in[0].needs_gradient) return {};
    const MovedRows gathered{rows_.seat, rows_.axis, rows_.to, rows_.from};
    const Shape y = infer(std::vector{in[0].shape})[0];
    return gathered.kernels({Kind::dy, 0}, y, {Kind::dx, 0}, backward_talk(rows_.seat), 0);
  }

 private:
  MovedRows rows_;
};

}  // namespace

extern const OperatorRow reduce_scatter{
    "reduce_scatter", "some rows of the sum over all ranks", make_member<ReduceScatter>, {}};

}  // namespace isobar::ops
