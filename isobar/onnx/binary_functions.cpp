// Two or more tensors, broadcast to each other as in numpy and combined element by element.
#include <cmath>

#include "isobar/onnx/functions.hpp"

namespace isobar::onnx {
namespace {

Arrays infer_binary(const Call& call) { return {described(call[0].type, broadcast(call[0].dims, call[1].dims))}; }
Arrays infer_comparison(const Call& call) { return {described(Type::boolean, broadcast(call[0].dims, call[1].dims))}; }

/// Before operator set 7 one slope per channel was a plain list.
Dims slope_dims(const Call& call) {
  const Dims &x = call[0].dims, &slope = call[1].dims;
  if (call.version >= 7 || slope.size() != 1 || x.size() < 2 || slope[0] != x[1]) return slope;
  Dims dims(x.size() - 1, 1);
  dims[0] = slope[0];
  return dims;
}
Arrays infer_slope(const Call& call) {
  broadcast_strides(slope_dims(call), call[0].dims);
  return infer_same(call);
}
Arrays infer_variadic(const Call& call) {
  Dims dims = call[0].dims;
  for (std::size_t i = 1; i < call.in.size(); ++i) dims = broadcast(dims, call[i].dims);
  return {described(call[0].type, dims)};
}
Arrays infer_where(const Call& call) {
  return {described(call[1].type, broadcast(call[0].dims, broadcast(call[1].dims, call[2].dims)))};
}

template <class F>
void combine(const Array& a, const Array& b, Array& out, F f) {
  const std::array strides{broadcast_strides(a.dims, out.dims), broadcast_strides(b.dims, out.dims)};
  std::size_t i = 0;
  walk(out.dims, strides, [&](const auto& at) { out.values[i++] = f(a.values[at[0]], b.values[at[1]]); });
}

template <auto f>
void fill_binary(const Call& call, Arrays& out) {
  combine(call.known(0), call.known(1), out[0], f);
}

template <auto f>
constexpr Function binary(std::string_view op) {
  return function<infer_binary, fill_binary<f>>(op);
}
template <auto f>
constexpr Function compared(std::string_view op) {
  return function<infer_comparison, fill_binary<f>>(op);
}

void fill_slope(const Call& call, Arrays& out) {
  Array slope = call.known(1);
  slope.dims = slope_dims(call);
  combine(call.known(0), slope, out[0], [](double x, double factor) { return x < 0 ? factor * x : x; });
}

void fill_modulo(const Call& call, Arrays& out) {
  const bool as_c = call.node.integer("fmod", 0) != 0;
  if (!as_c && is_floating(call[0].type)) fail("Mod of {} needs fmod=1", type_name(call[0].type));
  combine(call.known(0), call.known(1), out[0], [as_c](double a, double b) {
    const double rest = std::fmod(a, b);
    // Without fmod the sign is the divisor's, as in Python.
    return !as_c && rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  });
}

void fill_shift(const Call& call, Arrays& out) {
  const std::string direction = call.node.text("direction", "");
  if (direction != "LEFT" && direction != "RIGHT") fail("direction '{}'; LEFT and RIGHT are valid", direction);
  const int bits = type_bytes(call[0].type) * 8;
  const bool left = direction == "LEFT";
  // A power of two is exact in double, and storing removes the fraction and the high bits.
  combine(call.known(0), call.known(1), out[0], [bits, left](double a, double b) {
    if (!(b >= 0 && b < bits)) return 0.0;
    return std::trunc(std::ldexp(a, left ? static_cast<int>(b) : -static_cast<int>(b)));
  });
}

template <auto f>
void fill_variadic(const Call& call, Arrays& out) {
  Array sum = zeros(out[0].type, out[0].dims);
  combine(sum, call.known(0), sum, [](double, double b) { return b; });
  for (std::size_t i = 1; i < call.in.size(); ++i) combine(sum, call.known(i), sum, f);
  out[0].values = std::move(sum.values);
}

bool greater(double a, double b) { return a > b; }
double add(double a, double b) { return a + b; }
double larger(double a, double b) { return std::isnan(a) || a > b ? a : b; }
double smaller(double a, double b) { return std::isnan(a) || a < b ? a : b; }

void fill_mean(const Call& call, Arrays& out) {
  fill_variadic<add>(call, out);
  for (double& value : out[0].values) value /= static_cast<double>(call.in.size());
}

void fill_where(const Call& call, Arrays& out) {
  const Array &condition = call.known(0), &a = call.known(1), &b = call.known(2);
  const Dims& dims = out[0].dims;
  std::size_t i = 0;
  walk(dims,
       std::array{broadcast_strides(condition.dims, dims), broadcast_strides(a.dims, dims),
                  broadcast_strides(b.dims, dims)},
       [&](const auto& at) {
         const bool first = condition.values[at[0]] != 0;
         out[0].values[i++] = first ? a.values[at[1]] : b.values[at[2]];
       });
}

}  // namespace

std::span<const Function> binary_functions() {
  static constexpr Function all[] = {
      binary<add>("Add"),
      compared<[](double a, double b) { return a != 0 && b != 0; }>("And"),
      function<infer_binary, fill_shift>("BitShift"),
      binary<[](double a, double b) { return a / b; }>("Div"),
      compared<[](double a, double b) { return a == b; }>("Equal"),
      compared<greater>("Greater"),
      compared<[](double a, double b) { return a >= b; }>("GreaterOrEqual"),
      compared<[](double a, double b) { return a < b; }>("Less"),
      compared<[](double a, double b) { return a <= b; }>("LessOrEqual"),
      function<infer_variadic, fill_variadic<larger>>("Max"),
      function<infer_variadic, fill_mean>("Mean"),
      function<infer_variadic, fill_variadic<smaller>>("Min"),
      function<infer_binary, fill_modulo>("Mod"),
      binary<[](double a, double b) { return a * b; }>("Mul"),
      compared<[](double a, double b) { return a != 0 || b != 0; }>("Or"),
      function<infer_slope, fill_slope>("PRelu"),
      binary<[](double a, double b) { return std::pow(a, b); }>("Pow"),
      binary<[](double a, double b) { return a - b; }>("Sub"),
      function<infer_variadic, fill_variadic<add>>("Sum"),
      function<infer_where, fill_where>("Where"),
      compared<[](double a, double b) { return (a != 0) != (b != 0); }>("Xor"),
  };
  return all;
}

}  // namespace isobar::onnx
