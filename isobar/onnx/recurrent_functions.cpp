// RNN, GRU, LSTM: a cell processes the steps of each sequence, forwards or backwards, and carries its state along.
// Weights are [directions, gates x hidden, ...]; `layout` 1 puts the batch first in X, Y and the states.
#include <algorithm>
#include <cmath>
#include <functional>

#include "isobar/onnx/functions.hpp"

namespace isobar::onnx {
namespace {

using Activation = std::function<double(double)>;

double gate_sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// The extents of one call.
struct Form {
  std::int64_t steps, batch, inputs, directions, hidden, gates;
  bool batch_first;
  std::string direction;

  /// Row of a state and of one step of Y, in units of `hidden`.
  std::int64_t state(std::int64_t d, std::int64_t b) const { return batch_first ? b * directions + d : d * batch + b; }
  std::int64_t place(std::int64_t t, std::int64_t d, std::int64_t b) const {
    return batch_first ? (b * steps + t) * directions + d : (t * directions + d) * batch + b;
  }
};

std::int64_t gates_of(const OnnxNode& node) { return node.op == "LSTM" ? 4 : node.op == "GRU" ? 3 : 1; }

Form form(const Call& call) {
  expect_rank(call, 0, 3);
  expect_rank(call, 2, 3);
  const Dims &x = call[0].dims, &r = call[2].dims;
  const bool batch_first = call.version >= 14 && call.node.integer("layout", 0) != 0;
  Form f{x[batch_first ? 1 : 0],
         x[batch_first ? 0 : 1],
         x[2],
         1,
         r[2],
         gates_of(call.node),
         batch_first,
         call.node.text("direction", "forward")};
  if (f.direction == "bidirectional") f.directions = 2;
  else if (f.direction != "forward" && f.direction != "reverse")
    fail("direction '{}'; forward, reverse and bidirectional are valid", f.direction);
  if (call.node.integer("hidden_size", f.hidden) != f.hidden)
    fail("hidden_size {} for weights of {}", call.node.integer("hidden_size", 0), dims_text(r));
  const std::int64_t rows = f.gates * f.hidden;
  expect_dims(call, 1, {f.directions, rows, f.inputs});
  expect_dims(call, 2, {f.directions, rows, f.hidden});
  if (call.has(3)) expect_dims(call, 3, {f.directions, 2 * rows});
  if (call.has(4)) expect_dims(call, 4, {f.batch});
  const Dims state = batch_first ? Dims{f.batch, f.directions, f.hidden} : Dims{f.directions, f.batch, f.hidden};
  if (call.has(5)) expect_dims(call, 5, state);
  if (f.gates == 4 && call.has(6)) expect_dims(call, 6, state);
  if (f.gates == 4 && call.has(7)) expect_dims(call, 7, {f.directions, 3 * f.hidden});
  return f;
}

Arrays infer_recurrent(const Call& call) {
  const Form f = form(call);
  const Type type = call[0].type;
  const Dims state = f.batch_first ? Dims{f.batch, f.directions, f.hidden} : Dims{f.directions, f.batch, f.hidden};
  Arrays out{described(type, f.batch_first ? Dims{f.batch, f.steps, f.directions, f.hidden}
                                           : Dims{f.steps, f.directions, f.batch, f.hidden}),
             described(type, state)};
  if (f.gates == 4) out.push_back(described(type, state));
  return out;
}

/// Takes alpha and beta, if the activation has them, from the front of the lists, or else its defaults.
Activation activation(std::string name, std::span<const double>& alphas, std::span<const double>& betas) {
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  const auto take = [](std::span<const double>& list, double otherwise) {
    if (list.empty()) return otherwise;
    const double value = list[0];
    list = list.subspan(1);
    return value;
  };
  if (name == "tanh") return [](double x) { return std::tanh(x); };
  if (name == "sigmoid") return gate_sigmoid;
  if (name == "relu") return [](double x) { return x < 0 ? 0 : x; };
  if (name == "softsign") return [](double x) { return x / (1 + std::fabs(x)); };
  if (name == "softplus") return [](double x) { return std::fmax(x, 0) + std::log1p(std::exp(-std::fabs(x))); };
  if (name == "elu") return [a = take(alphas, 1)](double x) { return x < 0 ? a * std::expm1(x) : x; };
  if (name == "leakyrelu") return [a = take(alphas, 0.01)](double x) { return x < 0 ? a * x : x; };
  if (name == "thresholdedrelu") return [a = take(alphas, 1)](double x) { return x < a ? 0 : x; };
  const bool hard = name == "hardsigmoid";
  if (!hard && name != "affine" && name != "scaledtanh") fail("activation '{}' is unknown", name);
  const double a = take(alphas, hard ? 0.2 : 1), b = take(betas, hard ? 0.5 : name == "affine" ? 0 : 1);
  if (hard) return [a, b](double x) { return std::clamp(a * x + b, 0.0, 1.0); };
  if (name == "affine") return [a, b](double x) { return a * x + b; };
  return [a, b](double x) { return a * std::tanh(b * x); };
}

/// The activations of all directions, one after the other.
std::vector<Activation> activations(const Call& call, const Form& f) {
  std::vector<std::string> names;
  for (std::int64_t d = 0; d < f.directions; ++d) {
    if (f.gates > 1) names.emplace_back("Sigmoid");
    names.emplace_back("Tanh");
    if (f.gates == 4) names.emplace_back("Tanh");
  }
  const auto found = call.node.attributes.find("activations");
  if (found != call.node.attributes.end()) {
    if (found->second.kind != Attribute::Kind::texts || found->second.texts.size() != names.size())
      fail("{} activations are needed", names.size());
    names = found->second.texts;
  }
  const std::vector<double> alpha = call.node.numbers("activation_alpha", {});
  const std::vector<double> beta = call.node.numbers("activation_beta", {});
  std::span<const double> alphas(alpha), betas(beta);
  std::vector<Activation> result;
  for (const std::string& name : names) result.push_back(activation(name, alphas, betas));
  return result;
}

/// The weights of one direction and the step of each kind of cell. Vectors hold all gates, one after the other.
struct Cell {
  std::int64_t hidden;
  std::span<const double> w, r, w_bias, r_bias, peepholes;
  std::span<const Activation> act;
  double clip;
  bool coupled, linear_before_reset;

  double clipped(double x) const { return clip > 0 ? std::clamp(x, -clip, clip) : x; }

  static std::vector<double> affine(std::span<const double> matrix, std::span<const double> x,
                                    std::span<const double> bias) {
    std::vector<double> y(bias.begin(), bias.end());
    for (std::size_t i = 0; i < y.size(); ++i)
      for (std::size_t k = 0; k < x.size(); ++k) y[i] += matrix[i * x.size() + k] * x[k];
    return y;
  }

  /// h = f(W x + R h + b).
  void rnn(const std::vector<double>& a, const std::vector<double>& b, std::vector<double>& h) const {
    for (std::int64_t j = 0; j < hidden; ++j) h[j] = act[0](clipped(a[j] + b[j]));
  }

  /// Gates update z, reset r, new h: h = (1 - z) g(...) + z h.
  void gru(const std::vector<double>& a, const std::vector<double>& b, std::vector<double>& h) const {
    std::vector<double> z(hidden), reset(hidden), inner(hidden);
    for (std::int64_t j = 0; j < hidden; ++j) {
      z[j] = act[0](clipped(a[j] + b[j]));
      reset[j] = act[0](clipped(a[hidden + j] + b[hidden + j]));
      inner[j] = linear_before_reset ? reset[j] * b[2 * hidden + j] : reset[j] * h[j];
    }
    if (!linear_before_reset) inner = affine(r.subspan(2 * hidden * hidden), inner, r_bias.subspan(2 * hidden));
    for (std::int64_t j = 0; j < hidden; ++j)
      h[j] = (1 - z[j]) * act[1](clipped(a[2 * hidden + j] + inner[j])) + z[j] * h[j];
  }

  /// Gates input, output, forget, cell: c = forget c + input g(...), h = output h(c).
  void lstm(const std::vector<double>& a, const std::vector<double>& b, std::vector<double>& h,
            std::vector<double>& c) const {
    const auto peep = [&](std::int64_t gate, std::int64_t j, double value) {
      return peepholes.empty() ? 0 : peepholes[gate * hidden + j] * value;
    };
    for (std::int64_t j = 0; j < hidden; ++j) {
      const auto sum = [&](std::int64_t gate) { return a[gate * hidden + j] + b[gate * hidden + j]; };
      const double in = act[0](clipped(sum(0) + peep(0, j, c[j])));
      const double forget = coupled ? 1 - in : act[0](clipped(sum(2) + peep(2, j, c[j])));
      c[j] = forget * c[j] + in * act[1](clipped(sum(3)));
      h[j] = act[0](clipped(sum(1) + peep(1, j, c[j]))) * act[2](c[j]);
    }
  }
};

void fill_recurrent(const Call& call, Arrays& out) {
  const Form f = form(call);
  const Array& x = call.known(0);
  const std::vector<Activation> functions = activations(call, f);
  const std::size_t per_direction = functions.size() / f.directions;
  const std::int64_t rows = f.gates * f.hidden;
  if (out[0].values.empty()) return;
  const std::vector<double> no_bias(2 * rows);
  const auto part = [&](std::size_t i, std::int64_t d, std::int64_t size) {
    return std::span<const double>(call.known(i).values).subspan(d * size, size);
  };
  for (std::int64_t d = 0; d < f.directions; ++d) {
    const std::span<const double> bias = call.has(3) ? part(3, d, 2 * rows) : std::span<const double>(no_bias);
    const Cell cell{f.hidden,
                    part(1, d, rows * f.inputs),
                    part(2, d, rows * f.hidden),
                    bias.first(rows),
                    bias.subspan(rows),
                    f.gates == 4 && call.has(7) ? part(7, d, 3 * f.hidden) : std::span<const double>(),
                    std::span(functions).subspan(d * per_direction, per_direction),
                    call.node.number("clip", 0),
                    call.node.integer("input_forget", 0) != 0,
                    call.node.integer("linear_before_reset", 0) != 0};
    const bool backwards = f.direction == "reverse" || d == 1;
    for (std::int64_t b = 0; b < f.batch; ++b) {
      const std::int64_t length = call.has(4) ? whole(call.known(4).values[b]) : f.steps;
      if (length < 0 || length > f.steps) fail("a sequence of length {} in {} steps", length, f.steps);
      const auto start = [&](std::size_t i) {
        if (!call.has(i)) return std::vector<double>(f.hidden);
        const auto state = part(i, f.state(d, b), f.hidden);
        return std::vector<double>(state.begin(), state.end());
      };
      std::vector<double> h = start(5), c = f.gates == 4 ? start(6) : std::vector<double>();
      for (std::int64_t step = 0; step < length; ++step) {
        const std::int64_t t = backwards ? length - 1 - step : step;
        const std::int64_t row = f.batch_first ? b * f.steps + t : t * f.batch + b;
        const auto now = std::span<const double>(x.values).subspan(row * f.inputs, f.inputs);
        const std::vector<double> from_input = Cell::affine(cell.w, now, cell.w_bias);
        const std::vector<double> from_state = Cell::affine(cell.r, h, cell.r_bias);
        if (f.gates == 1) cell.rnn(from_input, from_state, h);
        if (f.gates == 3) cell.gru(from_input, from_state, h);
        if (f.gates == 4) cell.lstm(from_input, from_state, h, c);
        std::copy(h.begin(), h.end(), out[0].values.begin() + f.place(t, d, b) * f.hidden);
      }
      std::copy(h.begin(), h.end(), out[1].values.begin() + f.state(d, b) * f.hidden);
      if (f.gates == 4) std::copy(c.begin(), c.end(), out[2].values.begin() + f.state(d, b) * f.hidden);
    }
  }
}

}  // namespace

std::span<const Function> recurrent_functions() {
  static constexpr Function all[] = {
      function<infer_recurrent, fill_recurrent>("GRU"),
      function<infer_recurrent, fill_recurrent>("LSTM"),
      function<infer_recurrent, fill_recurrent>("RNN"),
  };
  return all;
}

}  // namespace isobar::onnx
