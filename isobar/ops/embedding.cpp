// embedding: rows of a table picked by number.
//   y[n, t, :] = w[x[n, t], :];  dw[r, :] = sum over all n, t with x[n, t] = r of dy[n, t, :]
// x [N, ...] holds whole numbers (negative ones count from the end), w [rows, width], y [N, ..., width]; x has no
// gradient.
#include "isobar/base/error.hpp"
#include "isobar/ops/gather_rows.hpp"
#include "isobar/ops/primitive.hpp"

namespace isobar::ops {
namespace {

using Kind = Slot::Kind;

class Embedding final : public Operator {
 public:
  explicit Embedding(Args& args)
      : rows_(args.integer("rows")), width_(args.integer("width")), init_(args.spec("init", "gaussian(std=0.02)")) {
    args.require(rows_ >= 1 && width_ >= 1, "rows and width must be at least 1");
    args.require(rows_ <= 1 << 24, "rows must be at most 16777216: larger numbers are not exact as floats");
  }

  std::vector<Parameter> parameters(std::span<const Shape>) const override { return {{"w", {rows_, width_}, init_}}; }

  std::vector<Shape> infer(std::span<const Shape> in) const override {
    if (in[0].rank() < 1) fail("x is a scalar, it needs a batch axis");
    if (in[1] != Shape{rows_, width_}) fail("w is {}, expected {}x{}", in[1].str(), rows_, width_);
    return {result(in[0])};
  }

  std::optional<Reach> reach(int axis, std::span<const Shape> in) const override {
    if (axis == in[0].rank()) return std::nullopt;
    return same_elements(axis, in);
  }

  Kernel forward(const Setting&, std::span<const Operand> in) const override {
    const auto run = [p = picks(in), length = in[0].shape.count() / in[0].shape[0]](const Moment&,
                                                                                    std::span<const dnnl::memory> m) {
      gather_rows(p, picked_rows(floats(m[0]), p, length), floats(m[1]), floats(m[2]));
    };
    return {"forward",
            Category::copy,
            {{{Kind::x, 0}, plain(in[0].shape)}, {{Kind::x, 1}, plain(in[1].shape)}},
            {{{Kind::y, 0}, plain(result(in[0].shape))}},
            0,
            run};
  }

  std::vector<Kernel> backward(const Setting&, std::span<const Operand> in) const override {
    if (!in[1].needs_gradient) return {};
    const auto run = [p = picks(in), length = in[0].shape.count() / in[0].shape[0]](const Moment&,
                                                                                    std::span<const dnnl::memory> m) {
      scatter_rows(p, picked_rows(floats(m[0]), p, length), floats(m[1]), floats(m[2]));
    };
    return {{"weight gradient",
             Category::backward_pointwise,
             {{{Kind::x, 0}, plain(in[0].shape)}, {{Kind::dy, 0}, plain(result(in[0].shape))}},
             {{{Kind::dx, 1}, plain(in[1].shape)}},
             static_cast<double>(in[0].shape.count() * width_),
             run}};
  }

 private:
  RowPicks picks(std::span<const Operand> in) const { return {1, rows_, in[0].shape.count(), width_}; }

  Shape result(const Shape& x) const {
    std::vector<std::int64_t> extents = x.extents();
    extents.push_back(width_);
    return Shape(extents);
  }

  std::int64_t rows_, width_;
  Spec init_;
};

}  // namespace

extern const OperatorRow embedding{"embedding",
                                   "rows of a trained table, picked by number",
                                   make_member<Embedding>,
                                   {{"embedding(rows=5, width=3)", {{2, 7}}, -1, 1, Whole{0, 5}},
                                    {"embedding(rows=9, width=17)", {{4}}, -1, 1, Whole{-9, 9}}}};

}  // namespace isobar::ops
