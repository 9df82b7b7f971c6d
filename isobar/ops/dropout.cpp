// dropout, in training only:
//   y = x * m / (1 - rate);  dx = dy * m / (1 - rate);  m is 0 with probability rate, otherwise 1, for every element
// Element i of a sample uses number i of the generator keyed by (seed, site, epoch, sample), so the mask depends
// neither on threads nor on which rank holds the sample. The mask is saved, one byte per element: drawing it again
// takes ten rounds of Philox for four elements, which even in vectors costs more than reading four bytes. In a part of
// an operator, elements have the numbers that they have in the whole.
#include <algorithm>
#include <cmath>

#include "isobar/base/loops.hpp"
#include "isobar/base/random.hpp"
#include "isobar/base/wide_philox.hpp"
#include "isobar/ops/lanes.hpp"
#include "isobar/ops/op.hpp"
#include "isobar/ops/primitive.hpp"
#include "isobar/ops/view.hpp"
#include "isobar/ops/window.hpp"

namespace isobar::ops {
namespace {

using Kind = Slot::Kind;

// Rows without a sample number (a batch made by hand) are keyed by their position.
std::uint64_t sample_of(const Moment& moment, std::int64_t row) {
  const std::size_t r = row;
  return r < moment.samples.size() ? moment.samples[r] : row;
}

// keep[i - begin] for elements i in [begin, end) of one sample.
void draw(std::uint64_t epoch_key, std::uint64_t sample, std::uint32_t dropped_below, std::int64_t begin,
          std::int64_t end, std::uint8_t* keep) {
  const Random random(epoch_key, sample);
  const auto within_block = [&](std::int64_t from, std::int64_t to) {
    const auto block = random.block(from / 4);
    for (std::int64_t i = from; i < to; ++i) keep[i - begin] = block[i % 4] >= dropped_below;
  };
  std::int64_t i = std::min(end, (begin + 3) / 4 * 4);
  if (begin < i) within_block(begin, i);
  for (; i + philox_wide <= end; i += philox_wide)
    wide_at_least(mix(epoch_key, sample), i / 4, dropped_below, keep + (i - begin));
  for (; i < end; i += 4) within_block(i, std::min(end, i + 4));
}

// How the elements of a sample are numbered: runs of consecutive numbers. A whole sample is one run; a part of one is
// as many as there are positions before the last axis that is cut.
class ElementRuns {
 public:
  ElementRuns(const Shape& part, const Extents& whole, const Extents& first) : first_(first), whole_(whole) {
    axes_ = part.extents();
    last_cut_ = part.rank() - 1;
    while (last_cut_ > 0 && part[last_cut_] == whole[last_cut_]) --last_cut_;
    runs_ = last_cut_ == 0 ? 1 : part.count(1, last_cut_);
    length_ = part.count(std::max(1, last_cut_), part.rank());
  }
  std::int64_t runs() const { return runs_; }
  std::int64_t length() const { return length_; }
  // The number, in the whole, of the first element of a run.
  std::int64_t begin(std::int64_t run) const {
    std::int64_t number = 0, step = 1;
    for (int axis = std::ssize(axes_); axis-- > 1; step *= whole_[axis]) {
      const bool counted = axis < last_cut_;
      number += step * (first_[axis] + (counted ? run % axes_[axis] : 0));
      if (counted) run /= axes_[axis];
    }
    return number;
  }

 private:
  Extents first_, whole_, axes_;
  int last_cut_ = 0;
  std::int64_t runs_ = 1, length_ = 1;
};

void apply(const float* from, const std::uint8_t* keep, float factor, std::int64_t begin, std::int64_t end, float* to) {
  for (std::int64_t i = begin; i < end; ++i) to[i] = keep[i] ? from[i] * factor : 0.0f;
}

class Dropout final : public Operator {
 public:
  explicit Dropout(Args& args) : rate_(args.real("rate", 0.5)) {
    args.require(rate_ >= 0 && rate_ < 1, "rate must be at least 0 and below 1");
  }

  std::vector<Shape> infer(std::span<const Shape> in) const override {
    if (in[0].rank() < 1) fail("x is a scalar, it needs a batch axis");
    return {in[0]};
  }

  std::optional<Reach> reach(int axis, std::span<const Shape> in) const override { return same_elements(axis, in); }

  std::shared_ptr<const Operator> cropped(const Crop& crop) const override {
    auto part = std::make_shared<Dropout>(*this);
    if (whole_.empty()) {
      part->whole_ = crop.in[0].extents();
      part->first_ = Extents(crop.in[0].rank(), 0);
    }
    part->first_[crop.axis] += crop.out.begin;
    return part;
  }

  Kernel forward(const Setting& setting, std::span<const Operand> in) const override {
    const Shape& shape = in[0].shape;
    if (setting.phase == Phase::inference || rate_ == 0) return forward_view(shape, shape);
    const ElementRuns runs(shape, whole_.empty() ? shape.extents() : whole_,
                           whole_.empty() ? Extents(shape.rank(), 0) : first_);
    const auto dropped_below = static_cast<std::uint32_t>(std::ldexp(rate_, 32));
    const auto run = [=, rows = shape[0], factor = factor(), site = setting.site](
                         const Moment& moment, std::span<const dnnl::memory> memories) {
      const float* x = floats(memories[0]);
      float* y = floats(memories[1]);
      std::uint8_t* mask = bytes(memories[2]);
      const std::uint64_t epoch_key = mix(mix(moment.seed, site), moment.epoch);
      const std::int64_t length = runs.length(), parts = (length + loop_part - 1) / loop_part;
      const std::int64_t at_a_time = runs.runs() == 1 ? 1 : std::max<std::int64_t>(1, loop_part / length);
      const auto part = [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) {
          const std::int64_t at = i / parts, begin = i % parts * loop_part;
          const std::int64_t end = std::min(length, begin + loop_part), offset = at * length;
          const std::int64_t number = runs.begin(at % runs.runs());
          draw(epoch_key, sample_of(moment, at / runs.runs()), dropped_below, number + begin, number + end,
               mask + offset + begin);
          apply(x + offset, mask + offset, factor, begin, end, y + offset);
        }
      };
      in_parts(rows * runs.runs() * parts, part, at_a_time);
    };
    Kernel kernel{"forward",
                  Category::forward_pointwise,
                  {{{Kind::x, 0}, plain(shape)}},
                  {{{Kind::y, 0}, plain(shape), 0}, {{Kind::saved, 0}, plain(shape, Dtype::u8)}},
                  static_cast<double>(shape.count()),
                  run};
    kernel.again = std::make_shared<Kernel>(masked(shape, {Kind::x, 0}, {Kind::y, 0}, kernel.name, kernel.category));
    return kernel;
  }

  std::vector<Kernel> backward(const Setting& setting, std::span<const Operand> in) const override {
    const Shape& shape = in[0].shape;
    if (!in[0].needs_gradient) return {};
    if (setting.phase == Phase::inference || rate_ == 0) return {backward_view(shape, shape)};
    return {masked(shape, {Kind::dy, 0}, {Kind::dx, 0}, "backward", Category::backward_pointwise)};
  }

 private:
  // to = from * m / (1 - rate), with the saved mask.
  Kernel masked(const Shape& shape, Slot from, Slot to, const std::string& name, Category category) const {
    const auto run = [count = shape.count(), factor = factor()](const Moment&, std::span<const dnnl::memory> memories) {
      in_parts(count, [&](std::int64_t begin, std::int64_t end) {
        apply(floats(memories[0]), bytes(memories[1]), factor, begin, end, floats(memories[2]));
      });
    };
    return {name,
            category,
            {{from, plain(shape)}, {{Kind::saved, 0}, plain(shape, Dtype::u8)}},
            {{to, plain(shape), 0}},
            static_cast<double>(shape.count()),
            run};
  }

  float factor() const { return static_cast<float>(1.0 / (1.0 - rate_)); }

  double rate_;
  Extents whole_{}, first_{};  // of a part: the extents of the whole, and where the part begins
};

}  // namespace

extern const OperatorRow dropout{
    "dropout",
    "drops elements at random while training",
    make_member<Dropout>,
    {{"dropout", {{3, 7}}}, {"dropout(rate=0.25)", {{2, 3, 5, 3}}}, {"dropout(rate=0)", {{2, 6}}}}};

}  // namespace isobar::ops
