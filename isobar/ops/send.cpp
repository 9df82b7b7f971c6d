// send: gives a value to one other rank of a circle, which gets it by receive.
//   y = x, which nothing reads: a root of the graph;  dx = what that rank passes back
// The forward pass does not wait until the value has arrived; the backward pass does, which waits for its gradient.
// With gradient=false nothing comes back, and x gets no gradient from here.
#include "isobar/ops/copy_rows.hpp"
#include "isobar/ops/handover.hpp"
#include "isobar/ops/primitive.hpp"

namespace isobar::ops {
namespace {

using Kind = Slot::Kind;

class Send final : public Operator {
 public:
  explicit Send(Args& args)
      : seat_(args), to_(static_cast<int>(args.integer("to"))), gradient_(args.flag("gradient", true)) {
    args.require(to_ >= 0 && to_ < seat_.ranks && to_ != seat_.rank, "to must be another rank of the circle");
  }

  std::vector<Shape> infer(std::span<const Shape> in) const override { return {in[0]}; }
  bool receives_gradient() const override { return true; }

  std::vector<Kernel> forwards(const Setting& setting, std::span<const Operand> in) const override {
    const Shape& x = in[0].shape;
    const bool training = setting.phase == Phase::training;
    if (training && gradient_ && !in[0].needs_gradient)
      fail("send '{}': x depends on no trained weight; use gradient=false here and where it is received", setting.name);
    Kernel pack{"pack", Category::communication, {{{Kind::x, 0}, plain(x)}}, {{{Kind::temp, 0}, letter_layout(x)}}};
    pack.run = [count = x.count()](const Moment&, std::span<const dnnl::memory> m) {
      copy_rows(1, count, floats(m[0]), 0, floats(m[1]), 0);
    };
    std::vector<Kernel> both = talk_forward(x);
    std::vector<Kernel> list{std::move(pack), std::move(both[0])};
    Port arrived = list.back().writes[0];
    if (training && gradient_) {
      list.back().writes[0].slot = arrived.slot = {Kind::saved, 0};
    } else {
      arrived = both[1].writes[0];
      list.push_back(std::move(both[1]));
    }
    list.push_back(Kernel{"view", Category::communication, {arrived}, {{{Kind::y, 0}, plain(x), 0}}});
    return list;
  }

  std::vector<Kernel> backward(const Setting&, std::span<const Operand> in) const override {
    if (!in[0].needs_gradient || !gradient_) return {};
    const Shape& x = in[0].shape;
    Kernel sent = std::move(talk_forward(x)[1]);
    sent.reads[0].slot = {Kind::saved, 0};
    sent.writes[0].slot = {Kind::temp, 0};
    std::vector<Kernel> both = conversation(seat_, backward_talk(seat_), letter_layout(x), 1,
                                            letter(comm::Move::Kind::receive, to_, x.count()));
    Kernel last{"view", Category::communication, {both[1].writes[0]}, {{{Kind::dx, 0}, plain(x), 0}}};
    std::vector<Kernel> list{open_letter(x, 1)};
    for (Kernel* kernel : {&both[0], &sent, &both[1], &last}) list.push_back(std::move(*kernel));
    return list;
  }

 private:
  std::vector<Kernel> talk_forward(const Shape& x) const {
    return conversation(seat_, forward_talk(seat_), letter_layout(x), 0,
                        letter(comm::Move::Kind::send, to_, x.count()));
  }

  Seat seat_;
  int to_;
  bool gradient_;
};

}  // namespace

extern const OperatorRow send{"send", "gives a value to another rank", make_member<Send>, {}};

}  // namespace isobar::ops
