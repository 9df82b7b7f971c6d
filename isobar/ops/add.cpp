// add: the sum of two or more inputs, with broadcasting.
//   y = f(x0 + x1 + ...), f: relu with any slope, by fusion;  dx_i = dz, summed over the axes along which x_i was
//   repeated; dz = dy * f'(y)
#include <algorithm>
#include <array>

#include "isobar/base/error.hpp"
#include "isobar/ops/broadcast.hpp"
#include "isobar/ops/primitive.hpp"

namespace isobar::ops {
namespace {

using Kind = Slot::Kind;

class Add final : public Operator {
 public:
  int arity() const override { return -1; }

  std::vector<Shape> infer(std::span<const Shape> in) const override {
    if (in.size() < 2) fail("has {} input, needs at least 2", in.size());
    return {broadcast_shape(in)};
  }

  std::optional<Reach> reach(int axis, std::span<const Shape> in) const override { return broadcast_reach(axis, in); }

  std::shared_ptr<const Operator> absorb(const Pointwise& next) const override {
    if (after_ || next.forward != dnnl::algorithm::eltwise_relu) return nullptr;
    auto fused = std::make_shared<Add>(*this);
    fused->after_ = next;
    return fused;
  }

  Kernel forward(const Setting&, std::span<const Operand> in) const override {
    const std::vector<Shape> shapes = shapes_of(in);
    const Shape y = broadcast_shape(shapes);
    int in_place = -1;
    Kernel kernel{"forward", Category::forward_pointwise};
    for (int i = 0; i < std::ssize(in); ++i) {
      kernel.reads.push_back({{Kind::x, i}, plain(shapes[i])});
      if (in_place < 0 && shapes[i].count() == y.count()) in_place = i;
    }
    kernel.writes = {{{Kind::y, 0}, plain(y), in_place}};
    kernel.flops = static_cast<double>(y.count()) * (in.size() - 1);
    kernel.run = [loop = BroadcastLoop(y, shapes), terms = in.size(), slope = after_ ? after_->alpha : 1.0f](
                     const Moment&, std::span<const dnnl::memory> m) {
      float* to = floats(m.back());
      loop.run([&](std::int64_t at, const std::int64_t* first, std::int64_t length) {
        // A block is summed before it is written: several inputs may share memory with y.
        std::array<float, 512> sum;
        for (std::int64_t begin = 0; begin < length; begin += std::ssize(sum)) {
          const std::int64_t count = std::min<std::int64_t>(std::ssize(sum), length - begin);
          std::fill_n(sum.begin(), count, 0.0f);
          for (std::size_t k = 0; k < terms; ++k) {
            const float* x = floats(m[k]) + first[k];
            if (loop.moves(k))
              for (std::int64_t i = 0; i < count; ++i) sum[i] += x[begin + i];
            else
              for (std::int64_t i = 0; i < count; ++i) sum[i] += x[0];
          }
          for (std::int64_t i = 0; i < count; ++i) {
            const float z = sum[i];
            to[at + begin + i] = z > 0 ? z : slope * z;
          }
        }
      });
    };
    return kernel;
  }

  std::vector<Kernel> backward(const Setting& setting, std::span<const Operand> in) const override {
    const Shape y = broadcast_shape(shapes_of(in));
    if (std::none_of(in.begin(), in.end(), [](const Operand& o) { return o.needs_gradient; })) return {};
    std::vector<Kernel> list;
    const Slot dz = gradient_through(after_, setting, plain(y), list);
    for (int i = 0; i < std::ssize(in); ++i)
      if (in[i].needs_gradient) list.push_back(sum_to(dz, y, {Kind::dx, i}, in[i].shape));
    return list;
  }

 private:
  static std::vector<Shape> shapes_of(std::span<const Operand> in) {
    std::vector<Shape> shapes;
    for (const Operand& operand : in) shapes.push_back(operand.shape);
    return shapes;
  }

  std::optional<Pointwise> after_;
};

}  // namespace

extern const OperatorRow add{"add",
                             "the sum of two or more inputs, with broadcasting",
                             make_member<Add>,
                             {{"add", {{2, 3, 5}, {2, 3, 5}}},
                              {"add", {{1, 3, 3, 4}, {1, 3, 3, 4}, {1, 3, 3, 4}}},
                              {"add", {{2, 3, 600}, {600}, {3, 1}}},
                              {"add", {{1}, {2, 1, 4}, {3, 1}}},
                              {"add", {{700, 50}, {50}}}}};

}  // namespace isobar::ops
