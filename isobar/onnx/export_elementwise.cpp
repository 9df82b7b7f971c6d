// Writes functions of single elements and of two operands, in the form in which their inputs are held.
#include <algorithm>

#include "isobar/onnx/exporter.hpp"

namespace isobar::onnx {
namespace {

void unary(Exporter& e, const char* op, Attributes attributes = {}) {
  const bool first = e.held_first(0);
  e.give(0, e.emit(op, {e.as_held()}, std::move(attributes)), first);
}

void binary(Exporter& e, const char* op) {
  const int rank = e.out_shape().rank();
  bool first = false;
  for (std::size_t i = 0; i < e.inputs(); ++i) first = first || (e.shape(i).rank() == rank && e.held_first(i));
  std::string y = e.operand(0, rank, first);
  for (std::size_t i = 1; i < e.inputs(); ++i) y = e.emit(op, {y, e.operand(i, rank, first)});
  e.give(0, y, first);
}

// f(x) with a number: y = op(x, value).
void with_number(Exporter& e, const char* op, double value) {
  const bool first = e.held_first(0);
  e.give(0, e.emit(op, {e.as_held(), e.scalar(value)}), first);
}

void gelu(Exporter& e) {
  const bool first = e.held_first(0), erf = e.args().text("kind", "tanh") == "erf";
  const std::string x = e.as_held();
  std::string inner;
  if (erf) {
    inner = e.emit("Erf", {e.emit("Mul", {x, e.scalar(0.70710678118654752)})});
  } else {
    const std::string cube = e.emit("Mul", {e.emit("Mul", {x, x}), x});
    const std::string sum = e.emit("Add", {x, e.emit("Mul", {cube, e.scalar(0.044715)})});
    inner = e.emit("Tanh", {e.emit("Mul", {sum, e.scalar(0.79788456080286536)})});
  }
  const std::string half = e.emit("Mul", {x, e.scalar(0.5)});
  e.give(0, e.emit("Mul", {half, e.emit("Add", {inner, e.scalar(1)})}), first);
}

void clip(Exporter& e) {
  Args args = e.args();
  const bool first = e.held_first(0);
  std::vector<std::string> in{e.as_held(), "", ""};
  if (args.has("min")) in[1] = e.scalar(args.real("min"));
  if (args.has("max")) in[2] = e.scalar(args.real("max"));
  e.give(0, e.emit("Clip", std::move(in)), first);
}

void prelu(Exporter& e) {
  const int rank = e.shape(0).rank();
  const bool shared = e.shape(1).count() == 1;
  Dims dims(std::max(rank - 1, 1), 1);
  if (!shared) dims[0] = e.shape(1)[0];
  // A slope per channel is aligned with axis 1 of the file.
  const std::string slope = e.emit("Reshape", {e.plain(1), e.constant(dims)});
  e.give_first(0, e.emit("PRelu", {e.first(0), slope}));
}

void elementary(Exporter& e) {
  Args args = e.args();
  const std::string f = args.text("f");
  const auto real = [&](const char* key, double otherwise) { return attribute(args.real(key, otherwise)); };
  static const std::map<std::string, const char*> same{
      {"abs", "Abs"},           {"acos", "Acos"},   {"acosh", "Acosh"},
      {"asin", "Asin"},         {"asinh", "Asinh"}, {"atan", "Atan"},
      {"atanh", "Atanh"},       {"ceil", "Ceil"},   {"cos", "Cos"},
      {"cosh", "Cosh"},         {"erf", "Erf"},     {"floor", "Floor"},
      {"neg", "Neg"},           {"round", "Round"}, {"sign", "Sign"},
      {"sin", "Sin"},           {"sinh", "Sinh"},   {"reciprocal", "Reciprocal"},
      {"softsign", "Softsign"}, {"tan", "Tan"},     {"hard_swish", "HardSwish"}};
  if (const auto found = same.find(f); found != same.end()) return unary(e, found->second);
  if (f == "hard_sigmoid") return unary(e, "HardSigmoid", {{"alpha", real("alpha", 0.2)}, {"beta", real("beta", 0.5)}});
  if (f == "selu")
    return unary(e, "Selu",
                 {{"alpha", real("alpha", 1.6732632423543772)}, {"gamma", real("gamma", 1.0507009873554804)}});
  if (f == "celu") return unary(e, "Celu", {{"alpha", real("alpha", 1)}});
  if (f == "thresholded_relu") return unary(e, "ThresholdedRelu", {{"alpha", real("alpha", 1)}});
  if (f == "shrink") return unary(e, "Shrink", {{"bias", real("bias", 0)}, {"lambd", real("lambd", 0.5)}});
  const bool first = e.held_first(0);
  const std::string x = e.as_held();
  if (f == "square") return e.give(0, e.emit("Mul", {x, x}), first);
  if (f == "log1p") return e.give(0, e.emit("Log", {e.emit("Add", {x, e.scalar(1)})}), first);
  if (f == "expm1") return e.give(0, e.emit("Sub", {e.emit("Exp", {x}), e.scalar(1)}), first);
  if (f == "mish") return e.give(0, e.emit("Mul", {x, e.emit("Tanh", {e.emit("Softplus", {x})})}), first);
  fail("ONNX has no function like '{}' of elementary '{}'", f, e.node().name);
}

}  // namespace

std::span<const ExportRule> export_elementwise() {
  static constexpr ExportRule all[] = {
      {"add", [](Exporter& e) { binary(e, "Add"); }},
      {"sub", [](Exporter& e) { binary(e, "Sub"); }},
      {"mul", [](Exporter& e) { binary(e, "Mul"); }},
      {"div", [](Exporter& e) { binary(e, "Div"); }},
      {"maximum", [](Exporter& e) { binary(e, "Max"); }},
      {"minimum", [](Exporter& e) { binary(e, "Min"); }},
      {"relu", [](Exporter& e) { unary(e, "Relu"); }},
      {"leaky_relu",
       [](Exporter& e) {
         unary(e, "LeakyRelu", {{"alpha", attribute(e.args().real("slope", 0.01))}});
       }},
      {"elu",
       [](Exporter& e) {
         unary(e, "Elu", {{"alpha", attribute(e.args().real("alpha", 1))}});
       }},
      {"tanh", [](Exporter& e) { unary(e, "Tanh"); }},
      {"sigmoid", [](Exporter& e) { unary(e, "Sigmoid"); }},
      {"softplus", [](Exporter& e) { unary(e, "Softplus"); }},
      {"exp", [](Exporter& e) { unary(e, "Exp"); }},
      {"log", [](Exporter& e) { unary(e, "Log"); }},
      {"sqrt", [](Exporter& e) { unary(e, "Sqrt"); }},
      {"scale", [](Exporter& e) { with_number(e, "Mul", e.args().real("by", 1)); }},
      {"pow", [](Exporter& e) { with_number(e, "Pow", e.args().real("exponent", 2)); }},
      {"dropout",
       [](Exporter& e) {
         const bool first = e.held_first(0);
         e.give(0, e.emit("Dropout", {e.as_held(), e.scalar(e.args().real("rate", 0.5))}), first);
       }},
      {"gelu", gelu},
      {"clip", clip},
      {"prelu", prelu},
      {"elementary", elementary},
  };
  return all;
}

}  // namespace isobar::onnx
