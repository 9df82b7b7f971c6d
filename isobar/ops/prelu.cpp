// prelu: a leaky relu whose slope is trained, one for each channel or one for all (shared=true).
//   y = x for x > 0, else w_c * x;  dx = dy for x > 0, else w_c * dy;  dw_c = sum of dy * x over all x <= 0 of c
// x [..., C], w [C] or [1].
#include <array>

#include "isobar/base/error.hpp"
#include "isobar/ops/broadcast.hpp"
#include "isobar/ops/primitive.hpp"

namespace isobar::ops {
namespace {

using Kind = Slot::Kind;

class Prelu final : public Operator {
 public:
  explicit Prelu(Args& args) : shared_(args.flag("shared", false)) {}

  std::vector<Parameter> parameters(std::span<const Shape> in) const override {
    if (!shared_ && in[0].rank() < 1) fail("x is a scalar, it has no channels");
    return {{"w", {shared_ ? 1 : in[0][-1]}, "constant(value=0.25)"}};
  }

  std::vector<Shape> infer(std::span<const Shape> in) const override {
    const Shape expected = parameters(in.first(1))[0].shape;
    if (in[1] != expected) fail("w is {}, x = {} needs {}", in[1].str(), in[0].str(), expected.str());
    return {in[0]};
  }

  std::optional<Reach> reach(int axis, std::span<const Shape> in) const override {
    if (axis == in[0].rank() - 1 && !shared_) return std::nullopt;
    return same_elements(axis, in);
  }

  Kernel forward(const Setting&, std::span<const Operand> in) const override {
    return pointwise_kernel("forward", Category::forward_pointwise, in, {{Kind::x, 0}}, {Kind::y, 0}, 0,
                            [](float x, float, float w) { return x > 0 ? x : w * x; });
  }

  std::vector<Kernel> backward(const Setting&, std::span<const Operand> in) const override {
    std::vector<Kernel> list;
    const std::vector<Slot> both{{Kind::x, 0}, {Kind::dy, 0}};
    if (in[1].needs_gradient) {
      const Slot product{Kind::temp, 0};
      list.push_back(pointwise_kernel("products", Category::backward_pointwise, in, both, product, -1,
                                      [](float x, float dy, float) { return x > 0 ? 0 : dy * x; }));
      list.push_back(sum_to(product, in[0].shape, {Kind::dx, 1}, in[1].shape));
    }
    if (in[0].needs_gradient)
      list.push_back(pointwise_kernel("backward", Category::backward_pointwise, in, both, {Kind::dx, 0}, 1,
                                      [](float x, float dy, float w) { return x > 0 ? dy : w * dy; }));
    return list;
  }

 private:
  // to = f(first, last of `from`, w), element by element.
  template <class F>
  static Kernel pointwise_kernel(std::string name, Category category, std::span<const Operand> in,
                                 const std::vector<Slot>& from, Slot to, int alias_of, F f) {
    const Shape& x = in[0].shape;
    const std::array<Shape, 1> weights{in[1].shape};
    Kernel kernel{std::move(name), category};
    for (const Slot& slot : from) kernel.reads.push_back({slot, plain(x)});
    kernel.reads.push_back({{Kind::x, 1}, plain(in[1].shape)});
    kernel.writes = {{to, plain(x), alias_of}};
    kernel.flops = 2.0 * x.count();
    kernel.run = [loop = BroadcastLoop(x, weights), last = from.size() - 1, f](const Moment&,
                                                                               std::span<const dnnl::memory> m) {
      const float *a = floats(m[0]), *b = floats(m[last]), *w = floats(m[last + 1]);
      float* y = floats(m.back());
      with_strides(loop.moves(0), false, [&](auto stride, auto) {
        loop.run([&](std::int64_t at, const std::int64_t* first, std::int64_t length) {
          for (std::int64_t i = 0; i < length; ++i) y[at + i] = f(a[at + i], b[at + i], w[first[0] + i * stride]);
        });
      });
    };
    return kernel;
  }

  bool shared_;
};

}  // namespace

extern const OperatorRow prelu{"prelu",
                               "x, or a trained slope times x where x is negative",
                               make_member<Prelu>,
                               {{"prelu", {{2, 3, 4, 5}}}, {"prelu", {{7, 3}}}, {"prelu(shared=true)", {{2, 3, 4}}}}};

}  // namespace isobar::ops
