// all_reduce: sums over the ranks of a circle; fan_out: its counterpart, where the sum is taken on the way back.
//   all_reduce: y = sum of x over ranks;  dx = sum of dy over ranks
//   fan_out: y = x, which is the same on all ranks;  dx = mean of dy over ranks
// fan_out stands between what all ranks compute alike, each for its share of the loss, and what each has a part of.
#include "isobar/ops/copy_rows.hpp"
#include "isobar/ops/primitive.hpp"
#include "isobar/ops/seat.hpp"

namespace isobar::ops {
namespace {

using Kind = Slot::Kind;

// The sum of `source` over all ranks, times `scale`.
std::vector<Kernel> sum_kernels(const Seat& seat, int number, const Shape& shape, Slot source, Slot result,
                                float scale) {
  const std::int64_t count = shape.count();
  const Layout layout = plain(shape), buffer = plain({count});
  Kernel pack{"pack", Category::communication, {{source, layout}}, {{{Kind::temp, 0}, buffer}}};
  pack.run = [=](const Moment&, std::span<const dnnl::memory> m) {
    copy_rows(1, count, floats(m[0]), 0, floats(m[1]), 0);
  };
  Kernel unpack{"unpack", Category::communication, {{{Kind::temp, 2}, buffer}}, {{result, layout, 0}}};
  unpack.run = [=](const Moment&, std::span<const dnnl::memory> m) {
    const float* const sum = floats(m[0]);
    float* const to = floats(m[1]);
    in_parts(count, [=](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) to[i] = scale * sum[i];
    });
  };
  std::vector<Kernel> both = conversation(seat, number, buffer, 0, sum_schedule(seat, static_cast<std::size_t>(count)));
  std::vector<Kernel> list;
  for (Kernel* kernel : {&pack, &both[0], &both[1], &unpack}) list.push_back(std::move(*kernel));
  return list;
}

class AllReduce final : public Operator {
 public:
  explicit AllReduce(Args& args) : seat_(args) {}

  std::vector<Shape> infer(std::span<const Shape> in) const override { return {in[0]}; }

  std::vector<Kernel> forwards(const Setting&, std::span<const Operand> in) const override {
    return sum_kernels(seat_, forward_talk(seat_), in[0].shape, {Kind::x, 0}, {Kind::y, 0}, 1);
  }

  std::vector<Kernel> backward(const Setting&, std::span<const Operand> in) const override {
    if (!in[0].needs_gradient) return {};
    return sum_kernels(seat_, backward_talk(seat_), in[0].shape, {Kind::dy, 0}, {Kind::dx, 0}, 1);
  }

 private:
  Seat seat_;
};

class FanOut final : public Operator {
 public:
  explicit FanOut(Args& args) : seat_(args) {}

  std::vector<Shape> infer(std::span<const Shape> in) const override { return {in[0]}; }

  Kernel forward(const Setting&, std::span<const Operand> in) const override {
    const Layout layout = plain(in[0].shape);
    return {"view", Category::copy, {{{Kind::x, 0}, layout}}, {{{Kind::y, 0}, layout}}};
  }

  std::vector<Kernel> backward(const Setting&, std::span<const Operand> in) const override {
    if (!in[0].needs_gradient) return {};
    return sum_kernels(seat_, backward_talk(seat_), in[0].shape, {Kind::dy, 0}, {Kind::dx, 0},
                       1.0f / static_cast<float>(seat_.ranks));
  }

 private:
  Seat seat_;
};

}  // namespace

extern const OperatorRow all_reduce{"all_reduce", "the sum over all ranks", make_member<AllReduce>, {}};
extern const OperatorRow fan_out{"fan_out", "what all ranks have, for the part of each", make_member<FanOut>, {}};

}  // namespace isobar::ops
