// matmul: matrix products over the last two axes; the axes before them broadcast as in numpy.
//   y[.., m, n] = sum over k of a[.., m, k] * b[.., k, n];  da = dy b^T;  db = a^T dy, each summed over broadcast axes
// a [..., M, K] or transposed [..., K, M], b [..., K, N] or [..., N, K], y [..., M, N]. Gradients of a broadcast
// operand are computed for every matrix and then added in order; but a single b for all a becomes one product of taller
// matrices.
#include <algorithm>

#include "isobar/base/error.hpp"
#include "isobar/base/loops.hpp"
#include "isobar/ops/op.hpp"
#include "isobar/ops/primitive.hpp"

namespace isobar::ops {
namespace {

using Kind = Slot::Kind;
using Extents = std::vector<std::int64_t>;

// A stack of matrices as described to oneDNN: leading extents, rows, columns, and whether it is transposed in memory.
struct Stack {
  Extents front;
  std::int64_t rows, columns;
  bool transposed = false;

  Layout layout() const {
    Extents axes = front;
    axes.push_back(transposed ? columns : rows);
    axes.push_back(transposed ? rows : columns);
    const Layout memory = plain(Shape(axes));
    if (!transposed) return memory;
    Extents strides(axes.size());
    std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
    const auto& s = memory.data.format_desc.blocking.strides;
    std::copy_n(s, axes.size(), strides.begin());
    std::swap(strides[axes.size() - 1], strides[axes.size() - 2]);
    return Layout(axes, Dtype::f32, strides);
  }
  Stack turned() const { return {front, columns, rows, !transposed}; }
};

std::int64_t count(const Extents& extents) {
  std::int64_t product = 1;
  for (const std::int64_t e : extents) product *= e;
  return product;
}

class Matmul final : public Operator {
 public:
  explicit Matmul(Args& args)
      : transpose_a_(args.flag("transpose_a", false)), transpose_b_(args.flag("transpose_b", false)) {}

  int arity() const override { return 2; }

  std::vector<Shape> infer(std::span<const Shape> in) const override {
    const Case p = fitted(in[0], in[1], false);
    Extents y = p.y.front;
    y.push_back(p.y.rows);
    y.push_back(p.y.columns);
    return {Shape(y)};
  }

  // Rows of y are rows of a, its columns are columns of b; the axes before them are read as in broadcasting.
  std::optional<Reach> reach(int axis, std::span<const Shape> in) const override {
    const int rank = infer(in)[0].rank();
    Reach reach{std::vector<Reach::Input>(2)};
    const auto read = [&](int k, int from) {
      if (from >= 0 && in[k][from] > 1) reach.in[k] = same_elements(from, in.subspan(k, 1)).in[0];
    };
    if (axis == rank - 2) read(0, in[0].rank() - (transpose_a_ ? 1 : 2));
    else if (axis == rank - 1) read(1, in[1].rank() - (transpose_b_ ? 2 : 1));
    else
      for (const int k : {0, 1}) read(k, axis - (rank - in[k].rank()));
    return reach;
  }

  Kernel forward(const Setting& setting, std::span<const Operand> in) const override {
    const Case p = fitted(in[0].shape, in[1].shape);
    return product(setting, "forward", Category::forward_convolution, {p.a, {{Kind::x, 0}, plain(in[0].shape)}},
                   {p.b, {{Kind::x, 1}, plain(in[1].shape)}}, {p.y, {{Kind::y, 0}, plain(p.out)}}, 0);
  }

  std::vector<Kernel> backward(const Setting& setting, std::span<const Operand> in) const override {
    const Case p = fitted(in[0].shape, in[1].shape);
    const Factor a{p.a, {{Kind::x, 0}, plain(in[0].shape)}}, b{p.b, {{Kind::x, 1}, plain(in[1].shape)}};
    const Factor dy{p.y, {{Kind::dy, 0}, plain(p.out)}};
    std::vector<Kernel> list;
    // A gradient has the layout of its operand, so a transposed operand's gradient is the transposed product.
    if (in[1].needs_gradient)
      gradient(setting, transpose_b_ ? turned(dy) : turned(a), transpose_b_ ? a : dy, p, p.b, 1, in[1].shape, list);
    if (in[0].needs_gradient)
      gradient(setting, transpose_a_ ? b : dy, transpose_a_ ? turned(dy) : turned(b), p, p.a, 0, in[0].shape, list);
    return list;
  }

 private:
  struct Case {
    Stack a, b, y;
    Shape out;
  };
  struct Factor {
    Stack stack;
    Port port;
  };

  static Factor turned(const Factor& o) { return {o.stack.turned(), o.port}; }

  // `fold`: a single b for all a becomes one product with all rows of a stacked.
  Case fitted(const Shape& a, const Shape& b, bool fold = true) const {
    if (a.rank() < 2 || b.rank() < 2) fail("a = {} and b = {} must have two axes or more", a.str(), b.str());
    const auto stack = [](const Shape& x, bool transposed) {
      const Extents front(x.extents().begin(), x.extents().end() - 2);
      return Stack{front, transposed ? x[-1] : x[-2], transposed ? x[-2] : x[-1], transposed};
    };
    Case p{stack(a, transpose_a_), stack(b, transpose_b_), {{}, 0, 0}, {}};
    if (p.a.columns != p.b.rows)
      fail("a = {} has {} columns, b = {} has {} rows: they must be equal", a.str(), p.a.columns, b.str(), p.b.rows);
    const std::size_t axes = std::max(p.a.front.size(), p.b.front.size());
    p.a.front.insert(p.a.front.begin(), axes - p.a.front.size(), 1);
    p.b.front.insert(p.b.front.begin(), axes - p.b.front.size(), 1);
    for (std::size_t i = 0; i < axes; ++i) {
      if (p.a.front[i] != p.b.front[i] && p.a.front[i] != 1 && p.b.front[i] != 1)
        fail("a = {} and b = {} do not broadcast: {} against {}", a.str(), b.str(), p.a.front[i], p.b.front[i]);
      p.y.front.push_back(std::max(p.a.front[i], p.b.front[i]));
    }
    p.y.rows = p.a.rows;
    p.y.columns = p.b.columns;
    Extents out = p.y.front;
    out.insert(out.end(), {p.y.rows, p.y.columns});
    p.out = Shape(out);
    if (!fold) return p;
    if (count(p.b.front) == 1 && !transpose_a_) {
      p.a.rows = p.y.rows = p.y.rows * count(p.y.front);
      p.a.front = p.b.front = p.y.front = {};
    } else if (p.a.front == p.b.front) {
      p.a.front = p.b.front = p.y.front = {count(p.y.front)};
    }
    return p;
  }

  static Kernel product(const Setting& setting, const char* name, Category category, const Factor& left,
                        const Factor& right, const Factor& result, int scratch) {
    const auto chosen = planned("matmul", [&] {
      const dnnl::matmul::desc desc(left.stack.layout(), right.stack.layout(), result.stack.layout());
      return dnnl::matmul::primitive_desc(desc, own_scratchpad(), setting.engine);
    });
    const double flops = 2.0 * (count(result.stack.front) * result.stack.rows) *
                         static_cast<double>(result.stack.columns * left.stack.columns);
    return primitive_kernel(name, category, dnnl::matmul(chosen), chosen.scratchpad_desc(), scratch,
                            {{DNNL_ARG_SRC, left.port}, {DNNL_ARG_WEIGHTS, right.port}}, {{DNNL_ARG_DST, result.port}},
                            flops);
  }

  // Appends the kernels of dx[index] = left * right, summed over the axes along which `operand` was broadcast.
  static void gradient(const Setting& setting, const Factor& left, const Factor& right, const Case& p,
                       const Stack& operand, int index, const Shape& shape, std::vector<Kernel>& list) {
    const char* const name = index == 0 ? "gradient of a" : "gradient of b";
    const bool sums = operand.front != p.y.front;
    Stack result{p.y.front, left.stack.rows, right.stack.columns};
    const Port whole{{Kind::temp, index}, result.layout()}, dx{{Kind::dx, index}, plain(shape)};
    list.push_back(
        product(setting, name, Category::backward_convolution, left, right, {result, sums ? whole : dx}, index + 1));
    if (!sums) return;
    Kernel kernel{"sum over broadcast axes", Category::backward_pointwise};
    kernel.reads = {whole};
    kernel.writes = {dx};
    kernel.flops = static_cast<double>(count(p.y.front) * shape.count() / count(operand.front));
    kernel.run = [targets = targets(operand.front, p.y.front), size = result.rows * result.columns,
                  total = shape.count()](const Moment&, std::span<const dnnl::memory> m) {
      const float* const from = floats(m[0]);
      float* const to = floats(m[1]);
      std::fill_n(to, total, 0.0f);
      in_parts(size, [&](std::int64_t begin, std::int64_t end) {
        for (std::size_t i = 0; i < targets.size(); ++i) {
          const float* const matrix = from + static_cast<std::int64_t>(i) * size;
          float* const target = to + targets[i] * size;
          for (std::int64_t e = begin; e < end; ++e) target[e] += matrix[e];
        }
      });
    };
    list.push_back(std::move(kernel));
  }

  // For every matrix of the broadcast stack, the number of the operand's matrix it was made from.
  static Extents targets(const Extents& operand, const Extents& whole) {
    Extents list(1, 0);
    for (std::size_t axis = 0; axis < whole.size(); ++axis) {
      Extents next;
      for (const std::int64_t base : list)
        for (std::int64_t i = 0; i < whole[axis]; ++i)
          next.push_back(base * operand[axis] + (operand[axis] == 1 ? 0 : i));
      list = std::move(next);
    }
    return list;
  }

  bool transpose_a_, transpose_b_;
};

}  // namespace

extern const OperatorRow matmul{"matmul",
                                "products of matrices, broadcasting all axes but the last two",
                                make_member<Matmul>,
                                {
                                    {"matmul", {{3, 5}, {5, 4}}},
                                    {"matmul", {{2, 3, 4}, {2, 4, 5}}},
                                    {"matmul(transpose_b=true)", {{2, 3, 2, 4}, {2, 3, 5, 4}}},
                                    {"matmul(transpose_a=true)", {{2, 4, 3}, {4, 5}}},
                                    {"matmul", {{2, 3, 4, 2}, {2, 17}}},
                                    {"matmul(transpose_a=true, transpose_b=true)", {{1, 3, 4, 2}, {2, 1, 3, 4}}},
                                    {"matmul", {{1, 4}, {3, 4, 2}}},
                                }};

}  // namespace isobar::ops
