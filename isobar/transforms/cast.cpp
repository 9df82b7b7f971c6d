// cast(to=float16, overflow=fail): rounds numbers to those that another type can hold, to the nearest and ties to even;
// they stay floats. A number too large for the type is an Error or, with overflow=saturate, becomes its largest value.
// Types: float16, bfloat16, int8, int16, int32, uint8, uint16.
#include <cmath>

#include "isobar/base/float16.hpp"
#include "isobar/base/instructions.hpp"
#include "isobar/transforms/transform.hpp"

namespace isobar::transforms {
namespace {

struct Type {
  std::string_view name;
  bool whole;
  float low, high;  // the smallest and the largest value
};

constexpr Type types[] = {{"float16", false, -65504.0f, 65504.0f},
                          {"bfloat16", false, -0x1.fep127f, 0x1.fep127f},
                          {"int8", true, -128, 127},
                          {"int16", true, -32768, 32767},
                          {"int32", true, -0x1p31f, 0x1.fffffep30f},  // the last float below 2^31
                          {"uint8", true, 0, 255},
                          {"uint16", true, 0, 65535}};

class Cast final : public Transform {
 public:
  Cast(const Type& type, bool saturate) : type_(type), saturate_(saturate) {}

  std::optional<Box> source(const Grid&, const Box& part, const Draw*) const override { return part; }
  void apply(const Portion& at, std::span<const float>, std::span<float> out, const Draw&) const override {
    if (type_.name == "float16") round(at.field, out, [](float value) { return Float16::rounded(value); });
    else if (type_.name == "bfloat16") round(at.field, out, [](float value) { return BFloat16::rounded(value); });
    else round(at.field, out, [](float value) { return std::nearbyint(value); });
  }

 private:
  template <class Rounding>
  void round(const Grid& field, std::span<float> out, Rounding rounding) const {
    unsigned none = 0, beyond = 0;
    run_dispatched([=, low = type_.low, high = type_.high, to_none = &none, to_beyond = &beyond] {
      unsigned nans = 0, outside = 0;
      for (const float value : out) {
        const float rounded = rounding(value);
        nans |= value != value;
        outside |= rounded < low || rounded > high;
      }
      *to_none = nans;
      *to_beyond = outside;
    });
    if ((none && type_.whole) || (beyond && !saturate_)) complain(field, out, rounding);
    run_dispatched([=, low = type_.low, high = type_.high] {
      for (float& value : out) {
        const float rounded = rounding(value);
        const float held = rounded < low ? low : rounded > high ? high : rounded;
        value = value != value ? value : held;
      }
    });
  }

  template <class Rounding>
  [[noreturn]] void complain(const Grid& field, std::span<const float> out, Rounding rounding) const {
    for (const float value : out) {
      if (value != value && type_.whole)
        fail("transform 'cast': '{}' holds NaN, which no {} can be", field.name, type_.name);
      if (!saturate_ && (rounding(value) < type_.low || rounding(value) > type_.high))
        fail("transform 'cast': '{}' holds {}; {} goes from {} to {}, and overflow=saturate would cut there",
             field.name, value, type_.name, type_.low, type_.high);
    }
    throw std::logic_error("cast: every number fits");
  }

  Type type_;
  bool saturate_;
};

}  // namespace

extern const Row<Transform> cast;
const Row<Transform> cast{
    "cast", "numbers rounded to those another type can hold", [](Args& args) -> std::unique_ptr<Transform> {
      const std::string to =
          args.one_of("to", "float16", {"float16", "bfloat16", "int8", "int16", "int32", "uint8", "uint16"});
      const bool saturate = args.one_of("overflow", "fail", {"fail", "saturate"}) == "saturate";
      for (const Type& type : types)
        if (type.name == to) return std::make_unique<Cast>(type, saturate);
      fail_usage("cast: {} is not a type", to);
    }};

}  // namespace isobar::transforms
