// Same dims, other numbers: Cast, CastLike, Clip, Dropout. A cast to an integer truncates.
#include <cmath>
#include <limits>
#include <random>

#include "isobar/onnx/functions.hpp"

namespace isobar::onnx {
namespace {

void fill_copy(const Call& call, Arrays& out) { out[0].values = call.known(0).values; }

Array cast_output(const Array& x, Type type) {
  if (x.type == Type::text) fail("a cast from text is not handled; from numbers it is");
  return described(type, x.dims);
}

Arrays infer_cast(const Call& call) { return {cast_output(call[0], static_cast<Type>(call.node.integer("to", 0)))}; }

Arrays infer_cast_like(const Call& call) { return {cast_output(call[0], call[1].type)}; }

void fill_clip(const Call& call, Arrays& out) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double low = call.has(1) ? scalar(call, 1) : call.node.number("min", -infinity);
  const double high = call.has(2) ? scalar(call, 2) : call.node.number("max", infinity);
  const Array& x = call.known(0);
  // In this order, as in numpy: if low exceeds high, every number becomes high. NaN stays NaN.
  for (std::size_t i = 0; i < x.values.size(); ++i) {
    const double raised = x.values[i] < low ? low : x.values[i];
    out[0].values[i] = raised > high ? high : raised;
  }
}

Arrays infer_dropout(const Call& call) {
  const Type mask = call.version < 10 ? call[0].type : Type::boolean;
  return {described(call[0].type, call[0].dims), described(mask, call[0].dims)};
}

/// With training_mode, the mask is that of numpy's RandomState(seed).uniform, as in ONNX's own test data.
void fill_dropout(const Call& call, Arrays& out) {
  const double ratio = call.has(1) ? scalar(call, 1) : 0.5;
  const bool training = call.has(2) && scalar(call, 2) != 0;
  const Array& x = call.known(0);
  out[0].values = x.values;
  out[1].values.assign(x.values.size(), 1);
  if (!training || ratio == 0) return;
  if (!(ratio > 0 && ratio < 1)) fail("a ratio of {} is dropped; it must be at least 0 and below 1", ratio);
  std::mt19937 random(static_cast<std::mt19937::result_type>(call.node.integer("seed", 0)));
  for (std::size_t i = 0; i < x.values.size(); ++i) {
    const double high = static_cast<double>(random() >> 5), low = static_cast<double>(random() >> 6);
    const bool kept = (high * 67108864 + low) / 9007199254740992 >= ratio;
    out[1].values[i] = kept;
    out[0].values[i] = kept ? x.values[i] / (1 - ratio) : 0;
  }
}

}  // namespace

std::span<const Function> cast_functions() {
  static constexpr Function all[] = {
      function<infer_cast, fill_copy>("Cast"),
      function<infer_cast_like, fill_copy>("CastLike"),
      function<infer_same, fill_clip>("Clip"),
      function<infer_dropout, fill_dropout>("Dropout"),
  };
  return all;
}

}  // namespace isobar::onnx
