#include "isobar/ops/edges_last.hpp"

#include <algorithm>
#include <cstring>

#include "isobar/base/error.hpp"
#include "isobar/ops/copy_rows.hpp"
#include "isobar/ops/primitive.hpp"

namespace isobar::ops {
namespace {

using Kind = Slot::Kind;

constexpr int axis = 1;  // what follows it lies together in memory, sample by sample

// The rows of the result before, within and after the interior.
struct Stages {
  Interval low, interior, high;
};

// Rows of one sample of a channels-last tensor.
struct SampleRows {
  std::int64_t sample, first;  // numbers in a sample; where the rows begin in it
  SampleRows(const Shape& shape, std::int64_t row)
      : sample(shape.count(1, shape.rank())), first(row * shape.count(2, shape.rank())) {}
  float* at(float* memory, std::int64_t n) const { return memory + n * sample + first; }
};

class EdgesLast final : public Operator {
 public:
  EdgesLast(std::shared_ptr<const Operator> op, Interval own, const Stages& stages)
      : op_(std::move(op)), own_(own), stages_(stages) {}

  int arity() const override { return 2; }
  std::vector<Shape> infer(std::span<const Shape> in) const override { return op_->infer(without_own(in)); }

  std::shared_ptr<const Operator> absorb(const Pointwise& next) const override {
    std::shared_ptr<const Operator> fused = op_->absorb(next);
    return fused ? std::make_shared<EdgesLast>(std::move(fused), own_, stages_) : nullptr;
  }

  std::vector<Kernel> forwards(const Setting& setting, std::span<const Operand> in) const override {
    std::vector<Operand> operands = without_own(in);
    std::vector<Shape> shapes;
    for (const Operand& operand : operands) shapes.push_back(operand.shape);
    const Shape y = op_->infer(shapes)[0];
    std::vector<Kernel> list;
    const Slot result{Kind::y, 0};
    for (const auto& [name, rows] : {std::pair("interior", stages_.interior), std::pair("low edge", stages_.low),
                                     std::pair("high edge", stages_.high)}) {
      if (rows.empty()) continue;
      const bool last = rows == stages_.high || (rows == stages_.low && stages_.high.empty());
      list.push_back(stage(setting, operands, shapes, y, rows, list.empty(), static_cast<int>(list.size()),
                           last ? result : Slot{Kind::temp, first_stage + static_cast<int>(list.size())}));
      list.back().name = std::string(name) + " " + list.back().name;
    }
    return list;
  }

  std::vector<Kernel> backward(const Setting& setting, std::span<const Operand> in) const override {
    std::vector<Kernel> list = op_->backward(setting, without_own(in));
    for (Kernel& kernel : list)
      for (auto* ports : {&kernel.reads, &kernel.writes})
        for (Port& port : *ports) port.slot = behind_own(port.slot);
    return list;
  }

 private:
  static constexpr int first_stage = 500;                   // temporaries with the rows computed so far
  static constexpr int stage_distance = 2 * first_scratch;  // between the temporaries of one stage and of the next

  template <class T>
  static std::vector<T> without_own(std::span<const T> in) {
    std::vector<T> list(in.begin(), in.end());
    list.erase(list.begin() + 1);
    return list;
  }
  static Slot behind_own(Slot slot) {
    const bool shifted = (slot.kind == Kind::x || slot.kind == Kind::dx) && slot.index >= 1;
    return {slot.kind, slot.index + (shifted ? 1 : 0)};
  }

  // The kernel for some rows of the result: that of a smaller operator, sample by sample. All stages read the weights
  // in the layout of the first.
  Kernel stage(const Setting& setting, std::vector<Operand>& operands, const std::vector<Shape>& shapes, const Shape& y,
               const Interval& rows, bool from_own, int number, Slot result) const {
    const OperatorPart part = cut_operator(op_, axis, rows, shapes);
    const Interval read = part.crop.read[0];
    std::vector<Operand> one = operands;
    one[0].shape = part.crop.part_shapes(part.reach)[0];
    one[0].shape[0] = 1;
    one[0].layout = channels_last(one[0].shape);
    Kernel kernel = part.op->forward(setting, one);
    const Shape x = from_own ? own_shape(shapes[0]) : shapes[0];
    std::size_t input = kernel.reads.size();
    for (std::size_t i = 0; i < kernel.reads.size(); ++i) {
      Port& port = kernel.reads[i];
      if (port.slot == Slot{Kind::x, 0}) {
        input = i;
        port = {{Kind::x, from_own ? 1 : 0}, channels_last(x)};
        continue;
      }
      if (port.slot.kind == Kind::x) operands[port.slot.index].layout = port.layout;
      port.slot = apart(behind_own(port.slot), number);
    }
    for (Port& port : kernel.writes) port.slot = apart(port.slot, number);
    const auto written = std::ranges::find(kernel.writes, Slot{Kind::y, 0}, &Port::slot);
    expects(input < kernel.reads.size() && written != kernel.writes.end() && kernel.run, "a kernel from x to y");
    const auto output = written - kernel.writes.begin();
    const std::size_t reads = kernel.reads.size();
    written->slot = result;
    written->layout = channels_last(y);
    if (number > 0) {  // what earlier stages have computed stays
      kernel.reads.push_back({{Kind::temp, first_stage + number - 1}, channels_last(y)});
      written->alias_of = static_cast<int>(reads);
    }
    const Layout small_x = one[0].layout, small_y = channels_last(one_sample(y, rows));
    kernel.flops *= static_cast<double>(y[0]);
    kernel.library = false;
    kernel.bytes =
        sizeof(float) * static_cast<double>(one[0].shape.count() * y[0] + y.count() / y[axis] * rows.extent());
    const SampleRows from(x, from_own ? read.begin - own_.begin : read.begin), to(y, rows.begin);
    kernel.run = [=, run = std::move(kernel.run), samples = y[0], kept = number > 0, engine = &setting.engine](
                     const Moment& moment, std::span<const dnnl::memory> m) {
      std::vector<dnnl::memory> mine(m.begin(), m.begin() + reads);
      mine.insert(mine.end(), m.begin() + reads + (kept ? 1 : 0), m.end());
      float *const x_numbers = floats(mine[input]), *const y_numbers = floats(mine[reads + output]);
      if (kept && floats(m[reads]) != y_numbers) copy_rows(1, to.sample * samples, floats(m[reads]), 0, y_numbers, 0);
      for (std::int64_t n = 0; n < samples; ++n) {
        mine[input] = dnnl::memory(small_x, *engine, from.at(x_numbers, n));
        mine[reads + output] = dnnl::memory(small_y, *engine, to.at(y_numbers, n));
        run(moment, mine);
      }
    };
    return kernel;
  }

  // Temporaries of different stages are different.
  static Slot apart(Slot slot, int number) {
    return slot.kind == Kind::temp ? Slot{Kind::temp, slot.index + stage_distance * (number + 1)} : slot;
  }
  static Shape one_sample(Shape y, const Interval& rows) {
    y[0] = 1;
    y[axis] = rows.extent();
    return y;
  }
  Shape own_shape(Shape x) const {
    x[axis] = own_.extent();
    return x;
  }

  std::shared_ptr<const Operator> op_;
  Interval own_;
  Stages stages_;
};

}  // namespace

std::shared_ptr<const Operator> edges_last(std::shared_ptr<const Operator> op, Interval own,
                                           std::span<const Shape> in) {
  const std::int64_t rows = op->infer(in)[0][axis];
  const std::optional<Reach> reach = op->reach(axis, in);
  if (!reach) return nullptr;
  const auto reads_own = [&](std::int64_t row) {
    const Interval& read = reach->in[0].window[row];
    return !read.empty() && read.begin >= own.begin && read.end <= own.end;
  };
  Interval interior{0, rows};
  while (interior.begin < rows && !reads_own(interior.begin)) ++interior.begin;
  while (interior.end > interior.begin && !reads_own(interior.end - 1)) --interior.end;
  const Stages stages{{0, interior.begin}, interior, {interior.end, rows}};
  if (interior.empty() || (stages.low.empty() && stages.high.empty())) return nullptr;
  return std::make_shared<EdgesLast>(std::move(op), own, stages);
}

}  // namespace isobar::ops
