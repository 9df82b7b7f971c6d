// dropout, in training only:
//   y = x * m / (1 - rate);  dx = dy * m / (1 - rate);  m is 0 with probability rate, otherwise 1, for every element
// Element i of a sample uses number i of the generator keyed by (seed, site, epoch, sample), so the mask depends
// neither on threads nor on which rank holds the sample. The mask is saved, one byte per element: drawing it again
// takes ten rounds of Philox for four elements, which even in vectors costs more than reading four bytes.
#include <algorithm>
#include <cmath>

#include "isobar/base/loops.hpp"
#include "isobar/base/random.hpp"
#include "isobar/base/wide_philox.hpp"
#include "isobar/ops/lanes.hpp"
#include "isobar/ops/op.hpp"
#include "isobar/ops/primitive.hpp"
#include "isobar/ops/view.hpp"

namespace isobar::ops {
namespace {

using Kind = Slot::Kind;

// Rows without a sample number (a batch made by hand) are keyed by their position.
std::uint64_t sample_of(const Moment& moment, std::int64_t row) {
  const std::size_t r = row;
  return r < moment.samples.size() ? moment.samples[r] : row;
}

// keep[i] for elements [begin, end) of one sample; begin is a multiple of 4.
void draw(std::uint64_t epoch_key, std::uint64_t sample, std::uint32_t dropped_below, std::int64_t begin,
          std::int64_t end, std::uint8_t* keep) {
  const Random random(epoch_key, sample);
  std::int64_t i = begin;
  for (; i + philox_wide <= end; i += philox_wide)
    wide_at_least(mix(epoch_key, sample), i / 4, dropped_below, keep + i);
  for (; i < end; i += 4) {
    const auto block = random.block(i / 4);
    const std::int64_t count = std::min<std::int64_t>(4, end - i);
    for (std::int64_t k = 0; k < count; ++k) keep[i + k] = block[k] >= dropped_below;
  }
}

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

  Kernel forward(const Setting& setting, std::span<const Operand> in) const override {
    const Shape& shape = in[0].shape;
    if (setting.phase == Phase::inference || rate_ == 0) return forward_view(shape, shape);
    const std::int64_t rows = shape[0], length = shape.count(1, shape.rank());
    const auto dropped_below = static_cast<std::uint32_t>(std::ldexp(rate_, 32));
    const auto run = [=, factor = factor(), site = setting.site](const Moment& moment,
                                                                 std::span<const dnnl::memory> memories) {
      const float* x = floats(memories[0]);
      float* y = floats(memories[1]);
      std::uint8_t* mask = bytes(memories[2]);
      const std::uint64_t epoch_key = mix(mix(moment.seed, site), moment.epoch);
      const std::int64_t parts = (length + loop_part - 1) / loop_part;
      in_parts(
          rows * parts,
          [&](std::int64_t i, std::int64_t) {
            const std::int64_t row = i / parts, begin = i % parts * loop_part;
            const std::int64_t end = std::min(length, begin + loop_part), offset = row * length;
            draw(epoch_key, sample_of(moment, row), dropped_below, begin, end, mask + offset);
            apply(x + offset, mask + offset, factor, begin, end, y + offset);
          },
          1);
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
};

}  // namespace

extern const OperatorRow dropout{
    "dropout",
    "drops elements at random while training",
    make_member<Dropout>,
    {{"dropout", {{3, 7}}}, {"dropout(rate=0.25)", {{2, 3, 5, 3}}}, {"dropout(rate=0)", {{2, 6}}}}};

}  // namespace isobar::ops
