// expand: x repeated along axes until it has a given shape, as in broadcasting.
//   y[i, j, ..] = x[i or 0, j or 0, ..];  dx is the sum of dy over the repeated axes
// Extents of 1 in `shape` keep the extent of x.
#include <array>

#include "isobar/base/error.hpp"
#include "isobar/ops/broadcast.hpp"
#include "isobar/ops/primitive.hpp"
#include "isobar/ops/view.hpp"

namespace isobar::ops {
namespace {

using Kind = Slot::Kind;

class Expand final : public Operator {
 public:
  explicit Expand(Args& args) : shape_(args.integers("shape", {})) {
    args.require(std::all_of(shape_.extents().begin(), shape_.extents().end(), [](auto e) { return e >= 1; }),
                 "the extents of shape must be at least 1");
  }

  std::vector<Shape> infer(std::span<const Shape> in) const override { return {result(in[0])}; }

  std::optional<Reach> reach(int axis, std::span<const Shape> in) const override {
    const Shape y = result(in[0]);
    Reach reach = broadcast_reach(axis, std::array{y, in[0]});
    reach.in.erase(reach.in.begin());
    return reach;
  }

  std::shared_ptr<const Operator> cropped(const Crop& crop) const override {
    const int own = crop.axis - (result(crop.in[0]).rank() - shape_.rank());
    if (own < 0 || shape_[own] == 1) return nullptr;
    auto part = std::make_shared<Expand>(*this);
    part->shape_[own] = crop.out.extent();
    return part;
  }

  Kernel forward(const Setting&, std::span<const Operand> in) const override {
    const Shape &x = in[0].shape, y = result(x);
    if (x.count() == y.count()) return forward_view(x, y);
    const std::array<Shape, 1> operands{x};
    const auto run = [loop = BroadcastLoop(y, operands)](const Moment&, std::span<const dnnl::memory> m) {
      const float* from = floats(m[0]);
      float* to = floats(m[1]);
      loop.run([&](std::int64_t at, const std::int64_t* first, std::int64_t length) {
        if (loop.moves(0)) std::copy_n(from + first[0], length, to + at);
        else std::fill_n(to + at, length, from[first[0]]);
      });
    };
    return {"forward", Category::copy, {{{Kind::x, 0}, plain(x)}}, {{{Kind::y, 0}, plain(y)}}, 0, run};
  }

  std::vector<Kernel> backward(const Setting&, std::span<const Operand> in) const override {
    if (!in[0].needs_gradient) return {};
    return {sum_to({Kind::dy, 0}, result(in[0].shape), {Kind::dx, 0}, in[0].shape)};
  }

 private:
  Shape result(const Shape& x) const {
    const std::array<Shape, 2> both{x, shape_};
    try {
      return broadcast_shape(both);
    } catch (const Error&) {
      fail("x = {} cannot be expanded to {}: counted from the last, axes must be equal or 1", x.str(), shape_.str());
    }
  }

  Shape shape_;
};

}  // namespace

extern const OperatorRow expand{"expand",
                                "repeated along axes until it has a given shape",
                                make_member<Expand>,
                                {{"expand(shape=[2, 3, 4])", {{2, 1, 4}}},
                                 {"expand(shape=[5, 3, 7])", {{3, 1}}},
                                 {"expand(shape=[1, 3])", {{4, 1}}},
                                 {"expand(shape=[1, 2, 3])", {{2, 3}}}}};

}  // namespace isobar::ops
