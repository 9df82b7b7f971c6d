// concat: joins inputs along an axis, by default the channels.
//   y[.., offset_i + j, ..] = x_i[.., j, ..];  dx_i[.., j, ..] = dy[.., offset_i + j, ..]
// Seen from the axis, x_i is `outer` rows of `inner_i` consecutive numbers and y has rows of their sum.
#include "isobar/base/error.hpp"
#include "isobar/ops/axes.hpp"
#include "isobar/ops/copy_rows.hpp"
#include "isobar/ops/op.hpp"
#include "isobar/ops/pieces.hpp"
#include "isobar/ops/primitive.hpp"

namespace isobar::ops {
namespace {

using Kind = Slot::Kind;

class Concat final : public Operator {
 public:
  explicit Concat(Args& args) : axis_(args.integer("axis", -1)) {}

  int arity() const override { return -1; }

  std::vector<Shape> infer(std::span<const Shape> in) const override {
    const int axis = fitted_axis(axis_, in[0]);
    Shape y = in[0];
    for (std::size_t i = 1; i < in.size(); ++i) {
      Shape like = in[i];
      if (like.rank() == y.rank()) like[axis] = y[axis];
      if (like != y)
        fail("input {} is {}, input 0 is {}: all axes but axis {} must be equal", i, in[i].str(), in[0].str(), axis);
      y[axis] += in[i][axis];
    }
    return {y};
  }

  std::optional<Reach> reach(int axis, std::span<const Shape> in) const override {
    if (axis == fitted_axis(axis_, in[0])) return std::nullopt;
    return same_elements(axis, in, in.size());
  }

  Kernel forward(const Setting&, std::span<const Operand> in) const override {
    const Shape y = result(in);
    const std::int64_t outer = y.count(0, fitted_axis(axis_, y)), pitch = y.count() / outer;
    Kernel kernel{"forward", Category::copy};
    std::vector<std::int64_t> lengths;
    for (int i = 0; i < std::ssize(in); ++i) {
      kernel.reads.push_back({{Kind::x, i}, plain(in[i].shape)});
      lengths.push_back(in[i].shape.count() / outer);
    }
    kernel.writes = {{{Kind::y, 0}, plain(y)}};
    kernel.run = [outer, pitch, lengths](const Moment&, std::span<const dnnl::memory> memories) {
      float* to = floats(memories.back());
      for (std::size_t i = 0; i < lengths.size(); to += lengths[i], ++i)
        copy_rows(outer, lengths[i], floats(memories[i]), lengths[i], to, pitch);
    };
    return kernel;
  }

  std::vector<Kernel> backward(const Setting&, std::span<const Operand> in) const override {
    const Shape y = result(in);
    const std::int64_t outer = y.count(0, fitted_axis(axis_, y)), pitch = y.count() / outer;
    std::vector<Kernel> list;
    std::int64_t offset = 0;
    for (int i = 0; i < std::ssize(in); ++i) {
      const std::int64_t length = in[i].shape.count() / outer;
      if (in[i].needs_gradient) {
        const bool channels = pitch == y[-1];  // then it can be a piece
        const auto slice = [=](const Moment&, std::span<const dnnl::memory> memories) {
          copy_rows(outer, length, floats(memories[0]) + offset, pitch, floats(memories[1]), length);
        };
        list.push_back({"slice of gradient",
                        Category::copy,
                        {{{Kind::dy, 0}, channels ? piece_layout(in[i].shape, offset, pitch) : plain(y)}},
                        {{{Kind::dx, i}, plain(in[i].shape)}},
                        0,
                        slice});
      }
      offset += length;
    }
    return list;
  }

 private:
  Shape result(std::span<const Operand> in) const {
    std::vector<Shape> shapes;
    for (const Operand& operand : in) shapes.push_back(operand.shape);
    return infer(shapes)[0];
  }

  std::int64_t axis_;
};

}  // namespace

extern const OperatorRow concat{"concat",
                                "inputs joined along an axis",
                                make_member<Concat>,
                                {{"concat", {{2, 3, 5, 4}, {2, 3, 5, 1}, {2, 3, 5, 7}}},
                                 {"concat(axis=1)", {{2, 3, 4}, {2, 5, 4}}},
                                 {"concat(axis=0)", {{3, 2, 4}, {1, 2, 4}}},
                                 {"concat", {{3, 4}}}}};

}  // namespace isobar::ops
