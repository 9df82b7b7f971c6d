// Functions of single elements, and of two operands with broadcasting. They keep the form in which their inputs are
// held, so that values stay channels-last between convolutions.
#include <algorithm>

#include "isobar/onnx/importer.hpp"

namespace isobar::onnx {
namespace {

using graph::ValueId;

bool unary(Importer& m, const Spec& spec) {
  if (!m.floating(0) || !m.some(0)) return false;
  const bool last = m.held_last(0);
  const ValueId y = m.add(spec, last ? m.last(0) : m.plain(0));
  m.give(0, y, m.dims(0), last);
  return true;
}

// Rank and form of the result of broadcasting all inputs; nothing if one of them is empty.
struct Common {
  Dims dims;
  bool last = false;
};

std::optional<Common> common(Importer& m) {
  Common c;
  for (std::size_t i = 0; i < m.inputs(); ++i) {
    if (!m.some(i)) return std::nullopt;
    if (m.dims(i).size() > c.dims.size()) c.dims.insert(c.dims.begin(), m.dims(i).size() - c.dims.size(), 1);
  }
  for (std::size_t i = 0; i < m.inputs(); ++i) {
    const Dims& d = m.dims(i);
    const std::size_t first = c.dims.size() - d.size();
    for (std::size_t a = 0; a < d.size(); ++a) {
      std::int64_t& axis = c.dims[first + a];
      if (d[a] != 1 && axis != 1 && axis != d[a])
        fail("inputs {} and {} do not broadcast", dims_text(c.dims), dims_text(d));
      axis = std::max(axis, d[a]);
    }
    c.last = c.last || (m.held_last(i) && d.size() == c.dims.size());
  }
  c.last = c.last && c.dims.size() >= 3;
  return c;
}

bool binary(Importer& m, const char* op) {
  if (m.inputs() != 2) fail("{} inputs; needs 2", m.inputs());
  const auto c = common(m);
  if (!c || !m.floating(0)) return false;
  const int rank = std::ssize(c->dims);
  m.give(0, m.add(op, {m.operand(0, rank, c->last), m.operand(1, rank, c->last)}), c->dims, c->last);
  return true;
}

// A chain of two-operand operators; `mean` divides at the end.
bool variadic(Importer& m, const char* op, bool mean = false) {
  if (m.inputs() < 1) fail("no inputs");
  const auto c = common(m);
  if (!c || !m.floating(0)) return false;
  const int rank = std::ssize(c->dims);
  if (m.inputs() == 1) return m.give_same(0, 0), true;
  ValueId y = m.operand(0, rank, c->last);
  for (std::size_t i = 1; i < m.inputs(); ++i) y = m.add(op, {y, m.operand(i, rank, c->last)});
  if (mean) y = m.add(fmt::format("scale(by={})", 1.0 / static_cast<double>(m.inputs())), y);
  m.give(0, y, c->dims, c->last);
  return true;
}

bool power(Importer& m) {
  if (m.inputs() != 2 || !m.floating(0) || !m.is_constant(1) || !m.some(0)) return false;
  const Array& exponent = m.numbers(1);
  if (exponent.values.size() != 1 || exponent.dims.size() > m.dims(0).size()) return false;
  return unary(m, fmt::format("pow(exponent={})", exponent.values[0]));
}

// With a known condition and one known branch: y = x where the condition selects x, and the known number elsewhere, as
// in attention masks. Infinite numbers become large ones, since they are multiplied by zero where x is selected.
bool where(Importer& m) {
  if (m.inputs() != 3 || !m.is_constant(0) || m.is_constant(1) == m.is_constant(2)) return false;
  const std::size_t x = m.is_constant(1) ? 2 : 1, other = 3 - x;
  const auto c = common(m);
  if (!c || !m.floating(x)) return false;
  const bool last = m.held_last(x) && m.dims(x).size() == c->dims.size();
  const Array condition = m.numbers(0), number = m.numbers(other);
  if (number.values.size() != 1) return false;
  const int rank = std::ssize(c->dims);
  const double limit = 1e30, fill = std::clamp(number.values[0], -limit, limit);
  std::vector<float> shown, rest;
  for (const double v : condition.values) {
    const bool shows = (v != 0) == (x == 1);
    shown.push_back(shows ? 1.0f : 0.0f);
    rest.push_back(shows ? 0.0f : static_cast<float>(fill));
  }
  Dims dims = condition.dims;
  dims.insert(dims.begin(), c->dims.size() - dims.size(), 1);
  if (last) {
    shown = turned(shown, dims, to_last(rank));
    rest = turned(rest, dims, to_last(rank));
    Dims turned_dims;
    for (const std::int64_t axis : to_last(rank)) turned_dims.push_back(dims[axis]);
    dims = turned_dims;
  }
  const ValueId kept = m.add("mul", {m.operand(x, rank, last), m.constant(dims, std::move(shown))});
  m.give(0, m.add("add", {kept, m.constant(dims, std::move(rest))}), c->dims, last, x);
  return true;
}

// The bounds are attributes before version 11, and inputs from then on; either may be omitted.
bool clip(Importer& m) {
  constexpr double all = 3.4028234663852886e38;
  double low = m.node().number("min", -all), high = m.node().number("max", all);
  if (m.has(1)) low = m.numbers(1).values.empty() ? low : m.numbers(1).values[0];
  if (m.has(2)) high = m.numbers(2).values.empty() ? high : m.numbers(2).values[0];
  if (!(low <= high)) return false;
  low = std::max(low, -all), high = std::min(high, all);
  return unary(m, fmt::format("clip(min={}, max={})", low, high));
}

// One slope for all, or one for each channel: [C, 1, ...], or [C] before version 7.
bool prelu(Importer& m) {
  if (!m.floating(0) || !m.some(0) || m.rank(0) < 2 || !m.is_constant(1)) return false;
  const Array& slope = m.numbers(1);
  const std::int64_t count = slope.count(), channels = m.dims(0)[1];
  const std::size_t first = m.dims(0).size() - std::min(slope.dims.size(), m.dims(0).size());
  const bool old = m.version() < 7 && slope.dims.size() == 1;
  const bool per_channel = count == channels && (old || (first <= 1 && slope.dims[1 - first] == channels));
  if (count != 1 && !per_channel) return false;
  const bool last = m.rank(0) >= 3;
  const ValueId w = m.weight_of(1, {count}, {slope.values.begin(), slope.values.end()}, {"constant(value=0.25)"});
  m.give(0, m.add(fmt::format("prelu(shared={})", count == 1 && channels != 1), {last ? m.last(0) : m.plain(0), w}),
         m.dims(0), last);
  return true;
}

// name=value arguments of an elementary function, from attributes with their defaults.
std::string with(const OnnxNode& node, const char* f, std::initializer_list<std::pair<const char*, double>> arguments) {
  std::string text = fmt::format("elementary(f={}", f);
  for (const auto& [name, otherwise] : arguments) text += fmt::format(", {}={}", name, node.number(name, otherwise));
  return text + ")";
}

}  // namespace

std::span<const ImportRule> rules_elementwise() {
  static constexpr ImportRule all[] = {
      {"Abs", [](Importer& m) { return unary(m, "elementary(f=abs)"); }},
      {"Acos", [](Importer& m) { return unary(m, "elementary(f=acos)"); }},
      {"Acosh", [](Importer& m) { return unary(m, "elementary(f=acosh)"); }},
      {"Asin", [](Importer& m) { return unary(m, "elementary(f=asin)"); }},
      {"Asinh", [](Importer& m) { return unary(m, "elementary(f=asinh)"); }},
      {"Atan", [](Importer& m) { return unary(m, "elementary(f=atan)"); }},
      {"Atanh", [](Importer& m) { return unary(m, "elementary(f=atanh)"); }},
      {"Ceil", [](Importer& m) { return unary(m, "elementary(f=ceil)"); }},
      {"Cos", [](Importer& m) { return unary(m, "elementary(f=cos)"); }},
      {"Cosh", [](Importer& m) { return unary(m, "elementary(f=cosh)"); }},
      {"Erf", [](Importer& m) { return unary(m, "elementary(f=erf)"); }},
      {"Floor", [](Importer& m) { return unary(m, "elementary(f=floor)"); }},
      {"Neg", [](Importer& m) { return unary(m, "elementary(f=neg)"); }},
      {"Reciprocal", [](Importer& m) { return unary(m, "elementary(f=reciprocal)"); }},
      {"Round", [](Importer& m) { return unary(m, "elementary(f=round)"); }},
      {"Sign", [](Importer& m) { return unary(m, "elementary(f=sign)"); }},
      {"Sin", [](Importer& m) { return unary(m, "elementary(f=sin)"); }},
      {"Sinh", [](Importer& m) { return unary(m, "elementary(f=sinh)"); }},
      {"Softsign", [](Importer& m) { return unary(m, "elementary(f=softsign)"); }},
      {"Tan", [](Importer& m) { return unary(m, "elementary(f=tan)"); }},
      {"HardSwish", [](Importer& m) { return unary(m, "elementary(f=hard_swish)"); }},
      {"Mish", [](Importer& m) { return unary(m, "elementary(f=mish)"); }},
      {"HardSigmoid",
       [](Importer& m) {
         return unary(m, with(m.node(), "hard_sigmoid", {{"alpha", 0.2}, {"beta", 0.5}}));
       }},
      {"Selu",
       [](Importer& m) {
         return unary(m, with(m.node(), "selu", {{"alpha", 1.6732632423543772}, {"gamma", 1.0507009873554804}}));
       }},
      {"Celu",
       [](Importer& m) {
         return unary(m, with(m.node(), "celu", {{"alpha", 1}}));
       }},
      {"ThresholdedRelu",
       [](Importer& m) {
         return unary(m, with(m.node(), "thresholded_relu", {{"alpha", 1}}));
       }},
      {"Shrink",
       [](Importer& m) {
         return unary(m, with(m.node(), "shrink", {{"bias", 0}, {"lambd", 0.5}}));
       }},
      {"Elu", [](Importer& m) { return unary(m, fmt::format("elu(alpha={})", m.node().number("alpha", 1))); }},
      {"LeakyRelu",
       [](Importer& m) { return unary(m, fmt::format("leaky_relu(slope={})", m.node().number("alpha", 0.01))); }},
      {"Exp", [](Importer& m) { return unary(m, "exp"); }},
      {"Log", [](Importer& m) { return unary(m, "log"); }},
      {"Relu", [](Importer& m) { return unary(m, "relu"); }},
      {"Sigmoid", [](Importer& m) { return unary(m, "sigmoid"); }},
      {"Softplus", [](Importer& m) { return unary(m, "softplus"); }},
      {"Sqrt", [](Importer& m) { return unary(m, "sqrt"); }},
      {"Tanh", [](Importer& m) { return unary(m, "tanh"); }},
      {"Clip", clip},
      {"Pow", power},
      {"Where", where},
      {"PRelu", prelu},
      {"Add", [](Importer& m) { return binary(m, "add"); }},
      {"Sub", [](Importer& m) { return binary(m, "sub"); }},
      {"Mul", [](Importer& m) { return binary(m, "mul"); }},
      {"Div", [](Importer& m) { return binary(m, "div"); }},
      {"Max", [](Importer& m) { return variadic(m, "maximum"); }},
      {"Min", [](Importer& m) { return variadic(m, "minimum"); }},
      {"Sum", [](Importer& m) { return variadic(m, "add"); }},
      {"Mean", [](Importer& m) { return variadic(m, "add", true); }},
  };
  return all;
}

}  // namespace isobar::onnx
