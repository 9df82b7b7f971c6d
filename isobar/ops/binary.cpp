// Functions of two inputs, y = f(a, b) element by element with broadcasting, each with its formula at its row.
//   da = sum of dy * f_a(a, b) over the axes along which a was repeated; db likewise
// F has static value(a, b), slope_a(a, b), slope_b(a, b), and states which of a and b each slope reads.
#include <algorithm>
#include <array>

#include "isobar/ops/broadcast.hpp"
#include "isobar/ops/primitive.hpp"

namespace isobar::ops {
namespace {

// Which operands a slope reads; an operand that no slope reads need not be kept for backward.
struct SlopeReads {
  bool a, b;
};

template <class F>
class Binary final : public Operator {
 public:
  int arity() const override { return 2; }

  std::vector<Shape> infer(std::span<const Shape> in) const override { return {broadcast_shape(in.first(2))}; }

  std::optional<Reach> reach(int axis, std::span<const Shape> in) const override { return broadcast_reach(axis, in); }

  Kernel forward(const Setting&, std::span<const Operand> in) const override {
    const Shape y = result(in);
    const auto fits = [&](int k) { return in[k].shape.count() == y.count(); };
    Kernel kernel{"forward", Category::forward_pointwise};
    kernel.reads = {{{Slot::Kind::x, 0}, plain(in[0].shape)}, {{Slot::Kind::x, 1}, plain(in[1].shape)}};
    kernel.writes = {{{Slot::Kind::y, 0}, plain(y), fits(0) ? 0 : fits(1) ? 1 : -1}};
    kernel.flops = static_cast<double>(y.count());
    kernel.run = [loop = loop_over(y, in)](const Moment&, std::span<const dnnl::memory> m) {
      const float *a = floats(m[0]), *b = floats(m[1]);
      float* to = floats(m[2]);
      with_strides(loop.moves(0), loop.moves(1), [&](auto sa, auto sb) {
        loop.run([&](std::int64_t at, const std::int64_t* first, std::int64_t length) {
          const float *p = a + first[0], *q = b + first[1];
          for (std::int64_t i = 0; i < length; ++i) to[at + i] = F::value(p[i * sa], q[i * sb]);
        });
      });
    };
    return kernel;
  }

  std::vector<Kernel> backward(const Setting&, std::span<const Operand> in) const override {
    std::vector<Kernel> list;
    if (in[0].needs_gradient) append(list, in, 0, F::reads_a, [](float a, float b) { return F::slope_a(a, b); });
    if (in[1].needs_gradient) append(list, in, 1, F::reads_b, [](float a, float b) { return F::slope_b(a, b); });
    return list;
  }

 private:
  static Shape result(std::span<const Operand> in) {
    const std::array<Shape, 2> shapes{in[0].shape, in[1].shape};
    return broadcast_shape(shapes);
  }

  static BroadcastLoop loop_over(const Shape& y, std::span<const Operand> in) {
    const std::array<Shape, 2> shapes{in[0].shape, in[1].shape};
    return BroadcastLoop(y, shapes);
  }

  // dy * slope, written to dx directly or to a temporary that is summed.
  template <class Slope>
  static void append(std::vector<Kernel>& list, std::span<const Operand> in, int index, SlopeReads reads, Slope slope) {
    const Shape y = result(in), &x = in[index].shape;
    const bool repeated = x.count() != y.count();
    const Slot dx{Slot::Kind::dx, index}, product{Slot::Kind::temp, index};
    if (!reads.a && !reads.b && slope(0, 0) == 1) return list.push_back(sum_to({Slot::Kind::dy, 0}, y, dx, x));
    Kernel kernel{"backward", Category::backward_pointwise};
    kernel.reads = {{{Slot::Kind::dy, 0}, plain(y)}};
    if (reads.a) kernel.reads.push_back({{Slot::Kind::x, 0}, plain(in[0].shape)});
    if (reads.b) kernel.reads.push_back({{Slot::Kind::x, 1}, plain(in[1].shape)});
    kernel.writes = {{repeated ? product : dx, repeated ? plain(y) : plain(x), 0}};
    kernel.flops = 2.0 * y.count();
    kernel.run = [loop = loop_over(y, in), reads, slope](const Moment&, std::span<const dnnl::memory> m) {
      const float unread = 0;
      const float *dy = floats(m[0]), *a = reads.a ? floats(m[1]) : &unread;
      const float* b = reads.b ? floats(m[reads.a ? 2 : 1]) : &unread;
      float* to = floats(m.back());
      with_strides(reads.a && loop.moves(0), reads.b && loop.moves(1), [&](auto sa, auto sb) {
        loop.run([&](std::int64_t at, const std::int64_t* first, std::int64_t length) {
          const float *p = a + (reads.a ? first[0] : 0), *q = b + (reads.b ? first[1] : 0);
          for (std::int64_t i = 0; i < length; ++i) to[at + i] = dy[at + i] * slope(p[i * sa], q[i * sb]);
        });
      });
    };
    list.push_back(std::move(kernel));
    if (repeated) list.push_back(sum_to(product, y, dx, x));
  }
};

struct Quotient {
  static constexpr SlopeReads reads_a{false, true}, reads_b{true, true};
  static float value(float a, float b) { return a / b; }
  static float slope_a(float, float b) { return 1 / b; }
  static float slope_b(float a, float b) { return -a / b / b; }
};

struct Larger {
  static constexpr SlopeReads reads_a{true, true}, reads_b{true, true};
  static float value(float a, float b) { return a > b ? a : b; }
  static float slope_a(float a, float b) { return a == b ? 0.5f : static_cast<float>(a > b); }
  static float slope_b(float a, float b) { return slope_a(b, a); }
};

struct Smaller {
  static constexpr SlopeReads reads_a{true, true}, reads_b{true, true};
  static float value(float a, float b) { return a < b ? a : b; }
  static float slope_a(float a, float b) { return a == b ? 0.5f : static_cast<float>(a < b); }
  static float slope_b(float a, float b) { return slope_a(b, a); }
};

struct Product {
  static constexpr SlopeReads reads_a{false, true}, reads_b{true, false};
  static float value(float a, float b) { return a * b; }
  static float slope_a(float, float b) { return b; }
  static float slope_b(float a, float) { return a; }
};

struct Difference {
  static constexpr SlopeReads reads_a{false, false}, reads_b{false, false};
  static float value(float a, float b) { return a - b; }
  static float slope_a(float, float) { return 1; }
  static float slope_b(float, float) { return -1; }
};

}  // namespace

// y = a / b;  da = dy / b, db = -dy * a / b^2, summed over the axes along which the input was repeated
extern const OperatorRow div{"div",
                             "the quotient of two inputs, with broadcasting",
                             make_member<Binary<Quotient>>,
                             {{"div", {{2, 3, 5}, {2, 3, 5}}, 0.5, 2},
                              {"div", {{2, 3, 5}, {3, 1}}, 0.5, 2},
                              {"div", {{1, 5}, {4, 2, 1}}, -3, -1}}};

// y = max(a, b);  dy goes to the larger input, half to each if they are equal, summed over repeated axes
extern const OperatorRow maximum{
    "maximum",
    "the larger of two inputs, with broadcasting",
    make_member<Binary<Larger>>,
    {{"maximum", {{2, 3, 5}, {2, 3, 5}}}, {"maximum", {{4, 7}, {4, 1}}}, {"maximum", {{1}, {5, 6}}}}};

// y = min(a, b);  dy goes to the smaller input, half to each if they are equal, summed over repeated axes
extern const OperatorRow minimum{
    "minimum",
    "the smaller of two inputs, with broadcasting",
    make_member<Binary<Smaller>>,
    {{"minimum", {{2, 3, 5}, {2, 3, 5}}}, {"minimum", {{4, 7}, {4, 1}}}, {"minimum", {{1}, {5, 6}}}}};

// y = a * b;  da = dy * b, db = dy * a, summed over the axes along which the input was repeated
extern const OperatorRow mul{"mul",
                             "the product of two inputs, with broadcasting",
                             make_member<Binary<Product>>,
                             {{"mul", {{2, 3, 5}, {2, 3, 5}}},
                              {"mul", {{2, 3, 3, 70}, {70}}},
                              {"mul", {{3, 4}, {1}}},
                              {"mul", {{2, 3, 5, 1}, {2, 3, 5, 7}}},
                              {"mul", {{4, 1, 3, 1, 2}, {2, 1, 5, 1}}},
                              {"mul", {{30, 40, 40}, {40, 1}}}}};

// y = a - b;  da = dy, db = -dy, summed over the axes along which the input was repeated
extern const OperatorRow sub{
    "sub",
    "the difference of two inputs, with broadcasting",
    make_member<Binary<Difference>>,
    {{"sub", {{2, 3, 5}, {2, 3, 5}}}, {"sub", {{2, 3, 5}, {5}}}, {"sub", {{2, 1, 5}, {2, 3, 1}}}}};

}  // namespace isobar::ops
