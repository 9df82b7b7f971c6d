// halo: the rows of an axis that this rank's part of a network reads, of which other ranks have some.
//   y = the rows want[rank] of x, whose rows have[rank] each rank has;  dx = what all ranks pass back for these rows
#include <algorithm>

#include "isobar/ops/moved_rows.hpp"

namespace isobar::ops {
namespace {

using Kind = Slot::Kind;

std::vector<Interval> pairs(const std::vector<std::int64_t>& numbers) {
  std::vector<Interval> list;
  for (std::size_t i = 0; i + 1 < numbers.size(); i += 2) list.push_back({numbers[i], numbers[i + 1]});
  return list;
}

class Halo final : public Operator {
 public:
  explicit Halo(Args& args)
      : rows_{Seat(args), static_cast<int>(args.integer("axis")), pairs(args.integers("have", {})),
              pairs(args.integers("want", {}))} {
    const auto ranks = static_cast<std::size_t>(rows_.seat.ranks);
    args.require(rows_.axis >= 1, "axis must be at least 1");
    args.require(rows_.from.size() == ranks && rows_.to.size() == ranks,
                 "have and want must be lists of a first row and the one after the last for each rank");
    args.require(std::ranges::none_of(rows_.from, &Interval::empty), "every rank must have some rows");
    for (std::size_t i = 1; i < ranks; ++i)
      args.require(rows_.from[i].begin == rows_.from[i - 1].end, "the rows of ranks must follow each other");
    const Interval all{rows_.from.front().begin, rows_.from.back().end};
    for (const Interval& want : rows_.to)
      args.require(want.begin >= all.begin && want.end <= all.end && !want.empty(), "ranks can want rows that exist");
  }

  std::vector<Shape> infer(std::span<const Shape> in) const override {
    const Interval &have = rows_.from[rows_.seat.rank], &want = rows_.to[rows_.seat.rank];
    if (rows_.axis >= in[0].rank() || in[0][rows_.axis] != have.extent())
      fail("x = {} does not have the rows {} to {} along axis {}", in[0].str(), have.begin, have.end, rows_.axis);
    Shape y = in[0];
    y[rows_.axis] = want.extent();
    return {y};
  }

  std::vector<Kernel> forwards(const Setting&, std::span<const Operand> in) const override {
    return rows_.kernels({Kind::x, 0}, in[0].shape, {Kind::y, 0}, forward_talk(rows_.seat), 0);
  }

  std::vector<Kernel> backward(const Setting&, std::span<const Operand> in) const override {
    if (!in[0].needs_gradient) return {};
    const Shape y = infer(std::vector{in[0].shape})[0];
    return rows_.back().kernels({Kind::dy, 0}, y, {Kind::dx, 0}, backward_talk(rows_.seat), 0);
  }

 private:
  MovedRows rows_;
};

}  // namespace

extern const OperatorRow halo{
    "halo", "rows of an axis that other ranks have, beside those of this rank", make_member<Halo>, {}};

}  // namespace isobar::ops
