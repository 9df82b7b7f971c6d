// gather: elements of one axis of x, picked by number.
//   y[a.., i.., b..] = x[a.., indices[i..], b..];  dx is the sum of dy over all picks of the element, in their order
// x [a.., rows, b..]; indices [i..] are whole numbers (negative ones count from the end) and have no gradient.
#include "isobar/ops/axes.hpp"
#include "isobar/ops/gather_rows.hpp"
#include "isobar/ops/primitive.hpp"

namespace isobar::ops {
namespace {

using Kind = Slot::Kind;

class Gather final : public Operator {
 public:
  explicit Gather(Args& args) : axis_(args.integer("axis", 0)) {}

  int arity() const override { return 2; }

  std::vector<Shape> infer(std::span<const Shape> in) const override { return {result(in[0], in[1])}; }

  Kernel forward(const Setting&, std::span<const Operand> in) const override {
    const Shape &x = in[0].shape, &indices = in[1].shape;
    const auto run = [p = picks(x, indices), length = sample_length(indices)](const Moment&,
                                                                              std::span<const dnnl::memory> m) {
      gather_rows(p, picked_rows(floats(m[1]), p, length), floats(m[0]), floats(m[2]));
    };
    return {"forward",
            Category::copy,
            {{{Kind::x, 0}, plain(x)}, {{Kind::x, 1}, plain(indices)}},
            {{{Kind::y, 0}, plain(result(x, indices))}},
            0,
            run};
  }

  std::vector<Kernel> backward(const Setting&, std::span<const Operand> in) const override {
    if (!in[0].needs_gradient) return {};
    const Shape &x = in[0].shape, &indices = in[1].shape;
    const auto run = [p = picks(x, indices), length = sample_length(indices)](const Moment&,
                                                                              std::span<const dnnl::memory> m) {
      scatter_rows(p, picked_rows(floats(m[1]), p, length), floats(m[0]), floats(m[2]));
    };
    return {{"backward",
             Category::backward_pointwise,
             {{{Kind::dy, 0}, plain(result(x, indices))}, {{Kind::x, 1}, plain(indices)}},
             {{{Kind::dx, 0}, plain(x)}},
             static_cast<double>(result(x, indices).count()),
             run}};
  }

 private:
  RowPicks picks(const Shape& x, const Shape& indices) const {
    const int axis = fitted_axis(axis_, x);
    return {x.count(0, axis), x[axis], indices.count(), x.count(axis + 1, x.rank())};
  }

  static std::int64_t sample_length(const Shape& indices) {
    return indices.rank() == 0 ? 1 : indices.count(1, indices.rank());
  }

  Shape result(const Shape& x, const Shape& indices) const {
    const int axis = fitted_axis(axis_, x);
    std::vector<std::int64_t> extents(x.extents().begin(), x.extents().begin() + axis);
    extents.insert(extents.end(), indices.extents().begin(), indices.extents().end());
    extents.insert(extents.end(), x.extents().begin() + axis + 1, x.extents().end());
    return Shape(extents);
  }

  std::int64_t axis_;
};

}  // namespace

extern const OperatorRow gather{"gather",
                                "elements of an axis, picked by number",
                                make_member<Gather>,
                                {{"gather", {{5, 3}, {4}}, -1, 1, {0, 5}},
                                 {"gather(axis=1)", {{2, 4, 3}, {2, 5}}, -1, 1, {-4, 4}},
                                 {"gather(axis=-1)", {{3, 7}, {9}}, -1, 1, {0, 7}}}};

}  // namespace isobar::ops
