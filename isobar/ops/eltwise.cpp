// Functions of one number by oneDNN, element by element, each with its formula at its row. Most compute f' from y; they
// may be absorbed by the operator that produces x. Those whose f' does not follow from y (softplus, gelu, pow) are not,
// because x would have to be kept all the same.
#include <limits>

#include "isobar/ops/op.hpp"
#include "isobar/ops/primitive.hpp"

namespace isobar::ops {
namespace {

using Kind = Slot::Kind;
using dnnl::algorithm;

dnnl::eltwise_forward::primitive_desc eltwise_descriptor(const Setting& setting, algorithm f, const Layout& x,
                                                         float alpha, float beta) {
  return planned("function", [&] {
    const dnnl::eltwise_forward::desc desc(forward_kind(setting.phase), f, x, alpha, beta);
    return dnnl::eltwise_forward::primitive_desc(desc, own_scratchpad(), setting.engine);
  });
}

Kernel eltwise_kernel(const dnnl::eltwise_forward::primitive_desc& chosen, const Shape& shape) {
  const Layout x = plain(shape);
  return primitive_kernel("forward", Category::forward_pointwise, dnnl::eltwise_forward(chosen),
                          chosen.scratchpad_desc(), 0, {{DNNL_ARG_SRC, {{Kind::x, 0}, x}}},
                          {{DNNL_ARG_DST, {{Kind::y, 0}, x, 0}}}, static_cast<double>(shape.count()));
}

// f' is computed from y; forward may overwrite x and backward may overwrite dy.
class Eltwise final : public Operator {
 public:
  explicit Eltwise(const Pointwise& f) : f_(f) {}

  std::vector<Shape> infer(std::span<const Shape> in) const override { return {in[0]}; }

  std::optional<Reach> reach(int axis, std::span<const Shape> in) const override { return same_elements(axis, in); }

  Kernel forward(const Setting& setting, std::span<const Operand> in) const override {
    const auto chosen = eltwise_descriptor(setting, f_.forward, plain(in[0].shape), f_.alpha, f_.beta);
    return eltwise_kernel(chosen, in[0].shape);
  }

  std::vector<Kernel> backward(const Setting& setting, std::span<const Operand> in) const override {
    if (!in[0].needs_gradient) return {};
    std::vector<Kernel> list;
    gradient_through(f_, setting, plain(in[0].shape), list);
    list.back().writes[0].slot = {Kind::dx, 0};
    return list;
  }

  std::optional<Pointwise> pointwise() const override { return f_; }

 private:
  Pointwise f_;
};

// f' is computed from x.
class EltwiseOfInput final : public Operator {
 public:
  explicit EltwiseOfInput(algorithm f, float alpha = 0, float beta = 0) : f_(f), alpha_(alpha), beta_(beta) {}

  std::vector<Shape> infer(std::span<const Shape> in) const override { return {in[0]}; }

  std::optional<Reach> reach(int axis, std::span<const Shape> in) const override { return same_elements(axis, in); }

  Kernel forward(const Setting& setting, std::span<const Operand> in) const override {
    return eltwise_kernel(eltwise_descriptor(setting, f_, plain(in[0].shape), alpha_, beta_), in[0].shape);
  }

  std::vector<Kernel> backward(const Setting& setting, std::span<const Operand> in) const override {
    if (!in[0].needs_gradient) return {};
    const Layout x = plain(in[0].shape);
    const auto hint = eltwise_descriptor(setting, f_, x, alpha_, beta_);
    const auto chosen = planned("gradient of a function", [&] {
      const dnnl::eltwise_backward::desc desc(f_, x, x, alpha_, beta_);
      return dnnl::eltwise_backward::primitive_desc(desc, own_scratchpad(), setting.engine, hint);
    });
    return {primitive_kernel("backward", Category::backward_pointwise, dnnl::eltwise_backward(chosen),
                             chosen.scratchpad_desc(), 0,
                             {{DNNL_ARG_SRC, {{Kind::x, 0}, x}}, {DNNL_ARG_DIFF_DST, {{Kind::dy, 0}, x}}},
                             {{DNNL_ARG_DIFF_SRC, {{Kind::dx, 0}, x, 1}}}, 2.0 * in[0].shape.count())};
  }

 private:
  algorithm f_;
  float alpha_, beta_;
};

// All of these functions are increasing.
std::unique_ptr<Operator> increasing(algorithm forward, algorithm backward, double alpha = 0, double beta = 0) {
  return std::make_unique<Eltwise>(
      Pointwise{forward, backward, static_cast<float>(alpha), static_cast<float>(beta), true});
}

std::unique_ptr<Operator> make_clip(Args& args) {
  constexpr double largest = std::numeric_limits<float>::max();
  const double low = args.real("min", -largest), high = args.real("max", largest);
  args.require(low <= high, "min must not be larger than max");
  return increasing(algorithm::eltwise_clip_v2, algorithm::eltwise_clip_v2_use_dst_for_bwd, low, high);
}

std::unique_ptr<Operator> make_elu(Args& args) {
  const double alpha = args.real("alpha", 1);
  args.require(alpha >= 0, "alpha must not be negative: the gradient is taken from the sign of the output");
  return increasing(algorithm::eltwise_elu, algorithm::eltwise_elu_use_dst_for_bwd, alpha);
}

// The sign of y determines that of x only for slope >= 0.
std::unique_ptr<Operator> make_leaky_relu(Args& args) {
  const double slope = args.real("slope", 0.01);
  args.require(slope >= 0, "slope must not be negative: its gradient is taken from the sign of the output");
  return increasing(algorithm::eltwise_relu, algorithm::eltwise_relu_use_dst_for_bwd, slope);
}

std::unique_ptr<Operator> make_gelu(Args& args) {
  const bool exact = args.one_of("kind", "tanh", {"tanh", "erf"}) == "erf";
  return std::make_unique<EltwiseOfInput>(exact ? algorithm::eltwise_gelu_erf : algorithm::eltwise_gelu_tanh);
}

std::unique_ptr<Operator> make_pow(Args& args) {
  const double exponent = args.real("exponent", 2);
  return std::make_unique<EltwiseOfInput>(algorithm::eltwise_pow, 1.0f, static_cast<float>(exponent));
}

std::unique_ptr<Operator> make_softplus(Args&) {
  return std::make_unique<EltwiseOfInput>(algorithm::eltwise_soft_relu);
}

template <algorithm forward, algorithm backward>
std::unique_ptr<Operator> make_increasing(Args&) {
  return increasing(forward, backward);
}

}  // namespace

// y = min(max(x, low), high) with low = `min`, high = `max`;  dx = dy where low < x < high, else 0
extern const OperatorRow clip{"clip",
                              "x, kept between two bounds",
                              make_clip,
                              {{"clip(min=-0.3, max=0.55)", {{3, 5}}},
                               {"clip(min=0)", {{1, 3, 5, 7}}},
                               {"clip(max=0.21)", {{2, 9}}},
                               {"clip", {{2, 3}}}}};

// y = x for x > 0, else alpha * (exp(x) - 1);  dx = dy for x > 0, else dy * (y + alpha); alpha >= 0
extern const OperatorRow elu{"elu",
                             "x, or alpha * (exp(x) - 1) where x is negative",
                             make_elu,
                             {{"elu", {{2, 5}}}, {"elu(alpha=0.3)", {{1, 3, 5, 7}}}}};

// y = exp(x);  dx = dy * y
extern const OperatorRow exp{"exp",
                             "the exponential function",
                             make_increasing<algorithm::eltwise_exp, algorithm::eltwise_exp_use_dst_for_bwd>,
                             {{"exp", {{2, 5}}}, {"exp", {{1, 3, 5, 7}}}}};

// P is the distribution function of the normal distribution:
//   erf:  y = x * P(x) = x/2 * (1 + erf(x / sqrt 2));  dx = dy * (P(x) + x * exp(-x^2/2) / sqrt(2 pi))
//   tanh: y = x/2 * (1 + t), t = tanh(u), u = sqrt(2/pi) * (x + 0.044715 x^3), close to erf and cheaper
//         dx = dy * ((1 + t)/2 + x/2 * (1 - t^2) * u'),  u' = sqrt(2/pi) * (1 + 0.134145 x^2)
extern const OperatorRow gelu{"gelu",
                              "x times the normal distribution function of x",
                              make_gelu,
                              {{"gelu", {{2, 5}}},
                               {"gelu", {{1, 3, 5, 7}}, -4, 4},
                               {"gelu(kind=erf)", {{3, 5}}},
                               {"gelu(kind=erf)", {{1, 3, 5, 7}}, -4, 4}}};

// y = x where x > 0, otherwise slope * x;  dx = dy where y > 0, otherwise slope * dy
extern const OperatorRow leaky_relu{
    "leaky_relu",
    "x, or slope * x where x is negative",
    make_leaky_relu,
    {{"leaky_relu", {{3, 5}}}, {"leaky_relu(slope=0.3)", {{1, 4, 3, 2, 5}}}, {"leaky_relu(slope=0)", {{2, 9, 3}}}}};

// y = x^e;  dx = dy * e * x^(e - 1); x must be positive unless e is a whole number
extern const OperatorRow pow{"pow",
                             "x to the power of a number",
                             make_pow,
                             {{"pow", {{2, 5}}},
                              {"pow(exponent=3)", {{1, 3, 5, 7}}},
                              {"pow(exponent=0.7)", {{4, 5}}, 0.1, 2},
                              {"pow(exponent=-1.5)", {{4, 5}}, 0.5, 2}}};

// y = max(x, 0);  dx = dy where y > 0, otherwise 0
extern const OperatorRow relu{"relu",
                              "max(x, 0)",
                              make_increasing<algorithm::eltwise_relu, algorithm::eltwise_relu_use_dst_for_bwd>,
                              {{"relu", {{2, 7}}}, {"relu", {{1, 3, 4, 5, 6}}}}};

// y = 1 / (1 + exp(-x));  dx = dy * y * (1 - y)
extern const OperatorRow sigmoid{
    "sigmoid",
    "1 / (1 + exp(-x))",
    make_increasing<algorithm::eltwise_logistic, algorithm::eltwise_logistic_use_dst_for_bwd>,
    {{"sigmoid", {{2, 5}}}, {"sigmoid", {{1, 3, 5, 7}}}}};

// y = log(1 + exp(x));  dx = dy / (1 + exp(-x))
extern const OperatorRow softplus{"softplus",
                                  "log(1 + exp(x)), a smooth relu",
                                  make_softplus,
                                  {{"softplus", {{2, 5}}}, {"softplus", {{1, 3, 5, 7}}, -9, 9}}};

// y = sqrt(x) for x >= 0;  dx = dy / (2 y)
extern const OperatorRow sqrt{"sqrt",
                              "the square root",
                              make_increasing<algorithm::eltwise_sqrt, algorithm::eltwise_sqrt_use_dst_for_bwd>,
                              {{"sqrt", {{2, 5}}, 0.1, 3}, {"sqrt", {{1, 3, 5, 7}}, 0.1, 3}}};

// y = tanh(x);  dx = dy * (1 - y^2)
extern const OperatorRow tanh{"tanh",
                              "hyperbolic tangent",
                              make_increasing<algorithm::eltwise_tanh, algorithm::eltwise_tanh_use_dst_for_bwd>,
                              {{"tanh", {{2, 5}}}, {"tanh", {{1, 3, 5, 7}}}}};

}  // namespace isobar::ops
