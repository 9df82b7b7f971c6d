// all_gather: all rows of an axis of which every rank has some.
//   y = the x of all ranks, one behind the other;  dx = what all ranks pass back for these rows
// With `copies` all ranks go on to compute the same, each for its share of the loss: then dx = ranks * dy at these
// rows, and nothing travels.
#include <algorithm>

#include "isobar/ops/copy_rows.hpp"
#include "isobar/ops/moved_rows.hpp"
#include "isobar/ops/primitive.hpp"

namespace isobar::ops {
namespace {

using Kind = Slot::Kind;

class AllGather final : public Operator {
 public:
  explicit AllGather(Args& args)
      : rows_{Seat(args), static_cast<int>(args.integer("axis")), {}, {}}, copies_(args.flag("copies", false)) {
    const std::vector<std::int64_t> bounds = args.integers("bounds", {});
    args.require(rows_.axis >= 1, "axis must be at least 1");
    args.require(std::ssize(bounds) == rows_.seat.ranks + 1 && bounds[0] == 0,
                 "bounds must list 0 and, for each rank, the row after its last");
    args.require(std::ranges::is_sorted(bounds, std::less_equal()), "every rank must have some rows");
    for (int rank = 0; rank < rows_.seat.ranks; ++rank) {
      rows_.from.push_back({bounds[rank], bounds[rank + 1]});
      rows_.to.push_back({0, bounds.back()});
    }
  }

  std::vector<Shape> infer(std::span<const Shape> in) const override {
    const Interval& have = mine();
    if (rows_.axis >= in[0].rank() || in[0][rows_.axis] != have.extent())
      fail("x = {} does not have the rows {} to {} along axis {}", in[0].str(), have.begin, have.end, rows_.axis);
    Shape y = in[0];
    y[rows_.axis] = rows_.to[0].end;
    return {y};
  }

  std::vector<Kernel> forwards(const Setting&, std::span<const Operand> in) const override {
    return rows_.kernels({Kind::x, 0}, in[0].shape, {Kind::y, 0}, forward_talk(rows_.seat), 0);
  }

  std::vector<Kernel> backward(const Setting&, std::span<const Operand> in) const override {
    if (!in[0].needs_gradient) return {};
    const Shape &x = in[0].shape, y = infer(std::vector{x})[0];
    if (!copies_) return rows_.back().kernels({Kind::dy, 0}, y, {Kind::dx, 0}, backward_talk(rows_.seat), 0);
    Kernel kernel{"own rows", Category::backward_pointwise, {{{Kind::dy, 0}, plain(y)}}, {{{Kind::dx, 0}, plain(x)}}};
    const std::int64_t outer = x.count(0, rows_.axis), inner = x.count(rows_.axis + 1, x.rank());
    kernel.run = [=, first = mine().begin * inner, length = mine().extent() * inner, pitch = y[rows_.axis] * inner,
                  scale = static_cast<float>(rows_.seat.ranks)](const Moment&, std::span<const dnnl::memory> m) {
      const float* const dy = floats(m[0]) + first;
      float* const dx = floats(m[1]);
      const auto row = [=](std::int64_t begin, std::int64_t end) {
        for (std::int64_t o = begin; o < end; ++o)
          for (std::int64_t i = 0; i < length; ++i) dx[o * length + i] = scale * dy[o * pitch + i];
      };
      in_parts(outer, row, std::max<std::int64_t>(1, loop_part / length));
    };
    return {kernel};
  }

 private:
  const Interval& mine() const { return rows_.from[rows_.seat.rank]; }

  MovedRows rows_;
  bool copies_;
};

}  // namespace

extern const OperatorRow all_gather{
    "all_gather", "all rows of an axis, of which every rank has some", make_member<AllGather>, {}};

}  // namespace isobar::ops
