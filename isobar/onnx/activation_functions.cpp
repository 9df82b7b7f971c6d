// Activations: functions of one number, with attributes.
#include <cmath>
#include <numbers>

#include "isobar/onnx/functions.hpp"

namespace isobar::onnx {
namespace {

/// `make` reads the attributes and returns the function of one number.
template <auto make>
void fill_made(const Call& call, Arrays& out) {
  const Array& x = call.known(0);
  const auto f = make(call.node);
  for (std::size_t i = 0; i < x.values.size(); ++i) out[0].values[i] = f(x.values[i]);
}

template <auto make>
constexpr Function made(std::string_view op) {
  return function<infer_same, fill_made<make>>(op);
}

double sigmoid(double x) { return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x)); }
double softplus(double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }
double hard_sigmoid(double x, double alpha, double beta) { return std::fmax(0, std::fmin(1, alpha * x + beta)); }

auto make_celu(const OnnxNode& node) {
  const double alpha = node.number("alpha", 1);
  if (alpha == 0) fail("alpha 0 has no inverse; Celu divides by it");
  return [alpha](double x) { return x > 0 ? x : alpha * std::expm1(x / alpha); };
}
auto make_elu(const OnnxNode& node) {
  return [alpha = node.number("alpha", 1)](double x) { return x >= 0 ? x : alpha * std::expm1(x); };
}
auto make_gelu(const OnnxNode& node) {
  return [tangent = node.text("approximate", "none") == "tanh"](double x) {
    if (tangent) return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
    return 0.5 * x * (1 + std::erf(x / std::numbers::sqrt2));
  };
}
auto make_hard_sigmoid(const OnnxNode& node) {
  return [alpha = node.number("alpha", 0.2), beta = node.number("beta", 0.5)](double x) {
    return hard_sigmoid(x, alpha, beta);
  };
}
auto make_hard_swish(const OnnxNode&) {
  return [](double x) { return x * hard_sigmoid(x, 1.0 / 6, 0.5); };
}
auto make_leaky(const OnnxNode& node) {
  return [alpha = node.number("alpha", 0.01)](double x) { return x >= 0 ? x : alpha * x; };
}
auto make_mish(const OnnxNode&) {
  return [](double x) { return x * std::tanh(softplus(x)); };
}
auto make_relu(const OnnxNode&) {
  return [](double x) { return x < 0 ? 0 : x; };
}
auto make_selu(const OnnxNode& node) {
  return [alpha = node.number("alpha", 1.67326319217681884765625),
          gamma = node.number("gamma", 1.05070102214813232421875)](double x) {
    return gamma * (x > 0 ? x : alpha * std::expm1(x));
  };
}
auto make_shrink(const OnnxNode& node) {
  return [bias = node.number("bias", 0), lambd = node.number("lambd", 0.5)](double x) {
    return x < -lambd ? x + bias : x > lambd ? x - bias : 0;
  };
}
auto make_sigmoid(const OnnxNode&) { return sigmoid; }
auto make_softplus(const OnnxNode&) { return softplus; }
auto make_softsign(const OnnxNode&) {
  return [](double x) { return x / (1 + std::fabs(x)); };
}
auto make_thresholded(const OnnxNode& node) {
  return [alpha = node.number("alpha", 1)](double x) { return x > alpha ? x : 0; };
}

}  // namespace

std::span<const Function> activation_functions() {
  static constexpr Function all[] = {
      made<make_celu>("Celu"),
      made<make_elu>("Elu"),
      made<make_gelu>("Gelu"),
      made<make_hard_sigmoid>("HardSigmoid"),
      made<make_hard_swish>("HardSwish"),
      made<make_leaky>("LeakyRelu"),
      made<make_mish>("Mish"),
      made<make_relu>("Relu"),
      made<make_selu>("Selu"),
      made<make_shrink>("Shrink"),
      made<make_sigmoid>("Sigmoid"),
      made<make_softplus>("Softplus"),
      made<make_softsign>("Softsign"),
      made<make_thresholded>("ThresholdedRelu"),
  };
  return all;
}

}  // namespace isobar::onnx
