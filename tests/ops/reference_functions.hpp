// Naive references of functions of one number, in double precision.
#pragma once

#include <cmath>
#include <map>
#include <numbers>

#include "tests/ops/reference_base.hpp"

namespace isobar::reference {

inline double erf_gelu(double x) { return x / 2 * (1 + std::erf(x / std::numbers::sqrt2)); }

inline double tanh_gelu(double x) {
  return x / 2 * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
}

inline Array elementary(Args& args, const Inputs& in, const Context&) {
  using Plain = double (*)(double);
  static const std::map<std::string, Plain> plain{
      {"abs", [](double x) { return std::abs(x); }},
      {"acos", [](double x) { return std::acos(x); }},
      {"acosh", [](double x) { return std::acosh(x); }},
      {"asin", [](double x) { return std::asin(x); }},
      {"asinh", [](double x) { return std::asinh(x); }},
      {"atan", [](double x) { return std::atan(x); }},
      {"atanh", [](double x) { return std::atanh(x); }},
      {"ceil", [](double x) { return std::ceil(x); }},
      {"cos", [](double x) { return std::cos(x); }},
      {"cosh", [](double x) { return std::cosh(x); }},
      {"erf", [](double x) { return std::erf(x); }},
      {"expm1", [](double x) { return std::exp(x) - 1; }},
      {"floor", [](double x) { return std::floor(x); }},
      {"hard_swish", [](double x) { return x * std::clamp(x / 6 + 0.5, 0.0, 1.0); }},
      {"log1p", [](double x) { return std::log(1 + x); }},
      {"mish", [](double x) { return x * std::tanh(std::log(1 + std::exp(x))); }},
      {"neg", [](double x) { return -x; }},
      {"reciprocal", [](double x) { return 1 / x; }},
      {"round", [](double x) { return std::nearbyint(x); }},
      {"sign", [](double x) { return x > 0   ? 1.0
                                     : x < 0 ? -1.0
                                             : 0.0; }},
      {"sin", [](double x) { return std::sin(x); }},
      {"sinh", [](double x) { return std::sinh(x); }},
      {"softsign", [](double x) { return x / (1 + std::abs(x)); }},
      {"square", [](double x) { return x * x; }},
      {"tan", [](double x) { return std::tan(x); }},
  };
  const std::string f = args.text("f");
  if (const auto found = plain.find(f); found != plain.end()) return mapped(in[0], found->second);
  if (f == "hard_sigmoid") {
    const double a = args.real("alpha", 0.2), b = args.real("beta", 0.5);
    return mapped(in[0], [=](double x) { return std::clamp(a * x + b, 0.0, 1.0); });
  }
  if (f == "selu") {
    const double a = args.real("alpha", 1.67326324), b = args.real("gamma", 1.05070098);
    return mapped(in[0], [=](double x) { return b * (x > 0 ? x : a * (std::exp(x) - 1)); });
  }
  if (f == "celu") {
    const double a = args.real("alpha", 1);
    return mapped(in[0], [=](double x) { return std::max(x, 0.0) + std::min(0.0, a * (std::exp(x / a) - 1)); });
  }
  if (f == "shrink") {
    const double bias = args.real("bias", 0), bound = args.real("lambd", 0.5);
    return mapped(in[0], [=](double x) { return x < -bound ? x + bias : x > bound ? x - bias : 0; });
  }
  const double a = args.real("alpha", 1);  // thresholded_relu
  return mapped(in[0], [=](double x) { return x > a ? x : 0; });
}

inline Array prelu(Args&, const Inputs& in, const Context&) {
  Array y = in[0];
  for (std::int64_t i = 0; i < y.shape.count(); ++i)
    if (y[i] < 0) y[i] *= in[1][i % in[1].shape[0]];
  return y;
}

inline Function function_of(double (*f)(double)) {
  return [f](Args&, const Inputs& in, const Context&) { return mapped(in[0], f); };
}

inline References function_references() {
  return {
      {"clip",
       [](Args& args, const Inputs& in, const Context&) {
         const double low = args.real("min", -1e30), high = args.real("max", 1e30);
         return mapped(in[0], [=](double x) { return std::clamp(x, low, high); });
       }},
      {"elementary", elementary},
      {"elu",
       [](Args& args, const Inputs& in, const Context&) {
         const double alpha = args.real("alpha", 1);
         return mapped(in[0], [=](double x) { return x > 0 ? x : alpha * (std::exp(x) - 1); });
       }},
      {"exp", function_of([](double x) { return std::exp(x); })},
      {"gelu", [](Args& args, const Inputs& in,
                  const Context&) { return mapped(in[0], args.text("kind", "tanh") == "erf" ? erf_gelu : tanh_gelu); }},
      {"log", function_of([](double x) { return std::log(x); })},
      {"pow",
       [](Args& args, const Inputs& in, const Context&) {
         const double e = args.real("exponent", 2);
         return mapped(in[0], [=](double x) { return std::pow(x, e); });
       }},
      {"prelu", prelu},
      {"softplus", function_of([](double x) { return std::log(1 + std::exp(x)); })},
      {"sqrt", function_of([](double x) { return std::sqrt(x); })},
  };
}

}  // namespace isobar::reference
