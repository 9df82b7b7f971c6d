// receive: a value that another rank of a circle gives by send; it has no inputs.
//   y = its x;  the gradient of y goes to that rank, unless gradient=false
#include <algorithm>

#include "isobar/ops/copy_rows.hpp"
#include "isobar/ops/handover.hpp"
#include "isobar/ops/primitive.hpp"

namespace isobar::ops {
namespace {

using Kind = Slot::Kind;

class Receive final : public Operator {
 public:
  explicit Receive(Args& args)
      : seat_(args),
        from_(static_cast<int>(args.integer("from"))),
        shape_(args.integers("shape", {})),
        gradient_(args.flag("gradient", true)) {
    args.require(from_ >= 0 && from_ < seat_.ranks && from_ != seat_.rank, "from must be another rank of the circle");
    args.require(shape_.rank() >= 1 && std::ranges::all_of(shape_.extents(), [](std::int64_t e) { return e > 0; }),
                 "shape must list extents of at least 1");
  }

  int arity() const override { return 0; }
  std::vector<Shape> infer(std::span<const Shape>) const override { return {shape_}; }
  bool sends_gradient() const override { return gradient_; }

  std::vector<Kernel> forwards(const Setting&, std::span<const Operand>) const override {
    std::vector<Kernel> both = talk(forward_talk(seat_), comm::Move::Kind::receive);
    Kernel last{"view", Category::communication, {both[1].writes[0]}, {{{Kind::y, 0}, plain(shape_), 0}}};
    std::vector<Kernel> list{open_letter(shape_, 0)};
    for (Kernel* kernel : {&both[0], &both[1], &last}) list.push_back(std::move(*kernel));
    return list;
  }

  std::vector<Kernel> backward(const Setting&, std::span<const Operand>) const override {
    if (!gradient_) return {};
    Kernel pack{
        "pack", Category::communication, {{{Kind::dy, 0}, plain(shape_)}}, {{{Kind::temp, 0}, letter_layout(shape_)}}};
    pack.run = [count = shape_.count()](const Moment&, std::span<const dnnl::memory> m) {
      copy_rows(1, count, floats(m[0]), 0, floats(m[1]), 0);
    };
    std::vector<Kernel> both = talk(backward_talk(seat_), comm::Move::Kind::send), list{std::move(pack)};
    for (Kernel& kernel : both) list.push_back(std::move(kernel));
    return list;
  }

 private:
  std::vector<Kernel> talk(int number, comm::Move::Kind kind) const {
    return conversation(seat_, number, letter_layout(shape_), 0, letter(kind, from_, shape_.count()));
  }

  Seat seat_;
  int from_;
  Shape shape_;
  bool gradient_;
};

}  // namespace

extern const OperatorRow receive{"receive", "a value that another rank gives", make_member<Receive>, {}};

}  // namespace isobar::ops
