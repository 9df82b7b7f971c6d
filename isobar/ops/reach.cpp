#include "isobar/ops/reach.hpp"

#include <algorithm>

#include "isobar/base/error.hpp"
#include "isobar/ops/op.hpp"

namespace isobar::ops {

std::optional<Reach> Operator::reach(int, std::span<const Shape>) const { return std::nullopt; }

std::shared_ptr<const Operator> Operator::cropped(const Crop&) const { return nullptr; }

Interval Reach::Input::read_by(Interval out) const {
  Interval all{0, 0};
  for (std::int64_t o = out.begin; o < out.end; ++o) {
    const Interval& one = window[o];
    if (one.empty()) continue;
    all = all.empty() ? one : Interval{std::min(all.begin, one.begin), std::max(all.end, one.end)};
  }
  return all;
}

std::vector<Shape> Crop::part_shapes(const Reach& reach) const {
  std::vector<Shape> shapes = in;
  for (std::size_t i = 0; i < shapes.size(); ++i)
    if (reach.in[i].axis >= 0) shapes[i][reach.in[i].axis] = read[i].extent();
  return shapes;
}

OperatorPart cut_operator(const std::shared_ptr<const Operator>& op, int axis, Interval out,
                          std::span<const Shape> in) {
  const Shape cut = op->is_loss() ? in[0] : op->infer(in)[0];
  expects(axis >= 1 && axis < cut.rank(), "an axis after that of the samples");
  const std::optional<Reach> reach = op->reach(axis, in);
  if (!reach) fail("axis {} cannot be cut: every element of it needs the whole axis", axis);
  if (out.begin < 0 || out.empty() || out.end > cut[axis])
    fail("elements {} to {} of axis {} are no part of its {}", out.begin, out.end, axis, cut[axis]);
  Crop crop{axis, out, {in.begin(), in.end()}, {}};
  for (const Reach::Input& input : reach->in) {
    crop.read.push_back(input.axis < 0 ? Interval() : input.read_by(out));
    if (input.axis >= 0 && crop.read.back().empty())
      fail("elements {} to {} of axis {} read padding alone; the part must be larger", out.begin, out.end, axis);
  }
  std::shared_ptr<const Operator> part = op->cropped(crop);
  if (!part) part = op;
  expects(reach->summed || part->infer(crop.part_shapes(*reach))[0][axis] == out.extent(), "a part as large as asked");
  return {std::move(part), *reach, std::move(crop)};
}

Reach same_elements(int axis, std::span<const Shape> in, std::size_t data) {
  Reach reach{std::vector<Reach::Input>(in.size())};
  for (std::size_t i = 0; i < std::min(data, in.size()); ++i) {
    reach.in[i].axis = axis;
    for (std::int64_t e = 0; e < in[i][axis]; ++e) reach.in[i].window.push_back({e, e + 1});
  }
  return reach;
}

}  // namespace isobar::ops
