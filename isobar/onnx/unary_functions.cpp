// Functions of one number: y[i] = f(x[i]), same dims. Comparisons give booleans, all others the type of x.
#include <cmath>

#include "isobar/onnx/functions.hpp"

namespace isobar::onnx {
namespace {

Arrays infer_boolean(const Call& call) { return {described(Type::boolean, call[0].dims)}; }

template <auto f>
void fill_map(const Call& call, Arrays& out) {
  const Array& x = call.known(0);
  for (std::size_t i = 0; i < x.values.size(); ++i) out[0].values[i] = f(x.values[i]);
}

template <auto f>
constexpr Function map(std::string_view op) {
  return function<infer_same, fill_map<f>>(op);
}

void fill_is_infinite(const Call& call, Arrays& out) {
  const Array& x = call.known(0);
  const bool negative = call.node.integer("detect_negative", 1) != 0;
  const bool positive = call.node.integer("detect_positive", 1) != 0;
  for (std::size_t i = 0; i < x.values.size(); ++i)
    out[0].values[i] = std::isinf(x.values[i]) && (x.values[i] < 0 ? negative : positive);
}

double sign(double x) { return std::isnan(x) ? x : static_cast<double>((x > 0) - (x < 0)); }

}  // namespace

std::span<const Function> unary_functions() {
  static constexpr Function all[] = {
      map<[](double x) { return std::fabs(x); }>("Abs"),
      map<[](double x) { return std::acos(x); }>("Acos"),
      map<[](double x) { return std::acosh(x); }>("Acosh"),
      map<[](double x) { return std::asin(x); }>("Asin"),
      map<[](double x) { return std::asinh(x); }>("Asinh"),
      map<[](double x) { return std::atan(x); }>("Atan"),
      map<[](double x) { return std::atanh(x); }>("Atanh"),
      map<[](double x) { return std::ceil(x); }>("Ceil"),
      map<[](double x) { return std::cos(x); }>("Cos"),
      map<[](double x) { return std::cosh(x); }>("Cosh"),
      map<[](double x) { return std::erf(x); }>("Erf"),
      map<[](double x) { return std::exp(x); }>("Exp"),
      map<[](double x) { return std::floor(x); }>("Floor"),
      map<[](double x) { return x; }>("Identity"),
      function<infer_boolean, fill_is_infinite>("IsInf"),
      function<infer_boolean, fill_map<[](double x) { return std::isnan(x); }>>("IsNaN"),
      map<[](double x) { return std::log(x); }>("Log"),
      map<[](double x) { return -x; }>("Neg"),
      function<infer_boolean, fill_map<[](double x) { return x == 0; }>>("Not"),
      map<[](double x) { return 1 / x; }>("Reciprocal"),
      map<[](double x) { return std::nearbyint(x); }>("Round"),
      map<sign>("Sign"),
      map<[](double x) { return std::sin(x); }>("Sin"),
      map<[](double x) { return std::sinh(x); }>("Sinh"),
      map<[](double x) { return std::sqrt(x); }>("Sqrt"),
      map<[](double x) { return std::tan(x); }>("Tan"),
      map<[](double x) { return std::tanh(x); }>("Tanh"),
  };
  return all;
}

}  // namespace isobar::onnx
