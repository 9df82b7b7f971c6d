// add: the sum of two or more inputs, with broadcasting.
//   y = x0 + x1 + ...;  dx_i = dy, summed over the axes in which x_i was repeated
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

  Kernel forward(const Setting&, std::span<const Operand> in) const override {
    const std::vector<Shape> shapes = shapes_of(in);
    const Shape y = broadcast_shape(shapes);
    int in_place = -1;
    Kernel kernel{"forward", Category::forward_pointwise};
    for (std::size_t i = 0; i < in.size(); ++i) {
      kernel.reads.push_back({{Kind::x, static_cast<int>(i)}, plain(shapes[i])});
      if (in_place < 0 && shapes[i].count() == y.count()) in_place = static_cast<int>(i);
    }
    kernel.writes = {{{Kind::y, 0}, plain(y), in_place}};
    kernel.flops = static_cast<double>(y.count()) * static_cast<double>(in.size() - 1);
    kernel.run = [loop = BroadcastLoop(y, shapes), terms = in.size()](const Moment&, std::span<const dnnl::memory> m) {
      float* to = floats(m.back());
      loop.run([&](std::int64_t at, const std::int64_t* first, std::int64_t length) {
        // A block is summed before it is written: several inputs may lie where y lies.
        std::array<float, 512> sum;
        for (std::int64_t begin = 0; begin < length; begin += std::ssize(sum)) {
          const std::int64_t count = std::min<std::int64_t>(std::ssize(sum), length - begin);
          std::fill_n(sum.begin(), count, 0.0f);
          for (std::size_t k = 0; k < terms; ++k) {
            const float* x = floats(m[k]) + first[k];
            if (loop.moves(k))
              for (std::int64_t i = 0; i < count; ++i) sum[static_cast<std::size_t>(i)] += x[begin + i];
            else
              for (std::int64_t i = 0; i < count; ++i) sum[static_cast<std::size_t>(i)] += x[0];
          }
          std::copy_n(sum.begin(), count, to + at + begin);
        }
      });
    };
    return kernel;
  }

  std::vector<Kernel> backward(const Setting&, std::span<const Operand> in) const override {
    const Shape y = broadcast_shape(shapes_of(in));
    std::vector<Kernel> list;
    for (std::size_t i = 0; i < in.size(); ++i)
      if (in[i].needs_gradient) list.push_back(sum_to({Kind::dy, 0}, y, {Kind::dx, static_cast<int>(i)}, in[i].shape));
    return list;
  }

 private:
  static std::vector<Shape> shapes_of(std::span<const Operand> in) {
    std::vector<Shape> shapes;
    for (const Operand& operand : in) shapes.push_back(operand.shape);
    return shapes;
  }
};

}  // namespace

extern const OperatorRow add;
const OperatorRow add{"add", "the sum of two or more inputs, with broadcasting",
                      [](Args&) -> std::unique_ptr<Operator> { return std::make_unique<Add>(); },
                      [] {
                        return std::vector<Problem>{{"add", {{2, 3, 5}, {2, 3, 5}}},
                                                    {"add", {{1, 3, 3, 4}, {1, 3, 3, 4}, {1, 3, 3, 4}}},
                                                    {"add", {{2, 3, 600}, {600}, {3, 1}}},
                                                    {"add", {{1}, {2, 1, 4}, {3, 1}}},
                                                    {"add", {{700, 50}, {50}}}};
                      }};

}  // namespace isobar::ops
