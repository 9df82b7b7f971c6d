// elementary: functions of one number without a separate file, y = f(x), dx = dy * f'(x), element by element.
// The table has f and f' with their parameters a = alpha and b = beta; where f has a kink, f' is that of one side.
// selu's gamma and shrink's lambd are b; shrink's bias is a.
#include <cmath>
#include <string_view>
#include <type_traits>

#include <fmt/ranges.h>

#include "isobar/base/error.hpp"
#include "isobar/base/loops.hpp"
#include "isobar/base/text.hpp"
#include "isobar/ops/op.hpp"
#include "isobar/ops/primitive.hpp"

namespace isobar::ops {
namespace {

using Kind = Slot::Kind;
using Function = float (*)(float x, float a, float b);

struct Named {
  std::string_view name;
  Function value, slope;
  double alpha = 0, beta = 0;  // defaults; zero: the function has no such parameter
  std::string_view alpha_name = "alpha", beta_name = "beta";
};

float step(float, float, float) { return 0; }
float square(float x) { return x * x; }
float plain_logistic(float x) { return 1 / (1 + std::exp(-x)); }
float softplus_of(float x) { return x > 20 ? x : std::log1p(std::exp(x)); }

constexpr double two_over_root_pi = 1.1283791670955126;

const Named functions[] = {
    {"abs", [](float x, float, float) { return std::abs(x); },
     [](float x, float, float) { return static_cast<float>((x > 0) - (x < 0)); }},
    {"acos", [](float x, float, float) { return std::acos(x); },
     [](float x, float, float) { return -1 / std::sqrt(1 - x * x); }},
    {"acosh", [](float x, float, float) { return std::acosh(x); },
     [](float x, float, float) { return 1 / std::sqrt(x * x - 1); }},
    {"asin", [](float x, float, float) { return std::asin(x); },
     [](float x, float, float) { return 1 / std::sqrt(1 - x * x); }},
    {"asinh", [](float x, float, float) { return std::asinh(x); },
     [](float x, float, float) { return 1 / std::sqrt(x * x + 1); }},
    {"atan", [](float x, float, float) { return std::atan(x); }, [](float x, float, float) { return 1 / (1 + x * x); }},
    {"atanh", [](float x, float, float) { return std::atanh(x); },
     [](float x, float, float) { return 1 / (1 - x * x); }},
    {"ceil", [](float x, float, float) { return std::ceil(x); }, step},
    {"celu", [](float x, float a, float) { return x > 0 ? x : a * std::expm1(x / a); },
     [](float x, float a, float) { return x > 0 ? 1 : std::exp(x / a); }, 1},
    {"cos", [](float x, float, float) { return std::cos(x); }, [](float x, float, float) { return -std::sin(x); }},
    {"cosh", [](float x, float, float) { return std::cosh(x); }, [](float x, float, float) { return std::sinh(x); }},
    {"erf", [](float x, float, float) { return std::erf(x); },
     [](float x, float, float) { return static_cast<float>(two_over_root_pi) * std::exp(-x * x); }},
    {"expm1", [](float x, float, float) { return std::expm1(x); }, [](float x, float, float) { return std::exp(x); }},
    {"floor", [](float x, float, float) { return std::floor(x); }, step},
    {"hard_sigmoid", [](float x, float a, float b) { return std::min(std::max(a * x + b, 0.0f), 1.0f); },
     [](float x, float a, float b) { return a * x + b > 0 && a * x + b < 1 ? a : 0; }, 0.2, 0.5},
    {"hard_swish", [](float x, float, float) { return x * std::min(std::max(x + 3, 0.0f), 6.0f) / 6; },
     [](float x, float, float) { return x <= -3  ? 0
                                        : x >= 3 ? 1
                                                 : (2 * x + 3) / 6; }},
    {"log1p", [](float x, float, float) { return std::log1p(x); }, [](float x, float, float) { return 1 / (1 + x); }},
    {"mish", [](float x, float, float) { return x * std::tanh(softplus_of(x)); },
     [](float x, float, float) {
       const float t = std::tanh(softplus_of(x));
       return t + x * (1 - t * t) * plain_logistic(x);
     }},
    {"neg", [](float x, float, float) { return -x; }, [](float, float, float) { return -1.0f; }},
    {"reciprocal", [](float x, float, float) { return 1 / x; }, [](float x, float, float) { return -1 / (x * x); }},
    {"round", [](float x, float, float) { return std::nearbyint(x); }, step},
    {"selu", [](float x, float a, float b) { return b * (x > 0 ? x : a * std::expm1(x)); },
     [](float x, float a, float b) { return b * (x > 0 ? 1 : a * std::exp(x)); }, 1.6732632423543772,
     1.0507009873554805, "alpha", "gamma"},
    {"shrink", [](float x, float a, float b) { return x < -b  ? x + a
                                                      : x > b ? x - a
                                                              : 0; },
     [](float x, float, float b) { return x < -b || x > b ? 1.0f : 0.0f; }, 0, 0.5, "bias", "lambd"},
    {"sign", [](float x, float, float) { return static_cast<float>((x > 0) - (x < 0)); }, step},
    {"sin", [](float x, float, float) { return std::sin(x); }, [](float x, float, float) { return std::cos(x); }},
    {"sinh", [](float x, float, float) { return std::sinh(x); }, [](float x, float, float) { return std::cosh(x); }},
    {"softsign", [](float x, float, float) { return x / (1 + std::abs(x)); },
     [](float x, float, float) { return 1 / square(1 + std::abs(x)); }},
    {"square", [](float x, float, float) { return x * x; }, [](float x, float, float) { return 2 * x; }},
    {"tan", [](float x, float, float) { return std::tan(x); },
     [](float x, float, float) { return 1 + square(std::tan(x)); }},
    {"thresholded_relu", [](float x, float a, float) { return x > a ? x : 0; },
     [](float x, float a, float) { return x > a ? 1.0f : 0.0f; }, 1},
};

const Named& named(const Args& args, const std::string& name) {
  std::vector<std::string> known;
  for (const Named& f : functions) {
    if (f.name == name) return f;
    known.emplace_back(f.name);
  }
  fail_usage("{}: there is no function f = {}{}", args.subject(), one_line(name), suggestion(name, known));
}

class Elementary final : public Operator {
 public:
  explicit Elementary(Args& args) : f_(named(args, args.text("f"))) {
    // shrink's bias may be zero, so a changed name also shows that a parameter exists.
    if (f_.alpha != 0 || f_.alpha_name != "alpha") alpha_ = static_cast<float>(args.real(f_.alpha_name, f_.alpha));
    if (f_.beta != 0) beta_ = static_cast<float>(args.real(f_.beta_name, f_.beta));
    args.require(f_.name != "celu" || alpha_ != 0, "alpha of celu must not be 0");
  }

  std::vector<Shape> infer(std::span<const Shape> in) const override { return {in[0]}; }

  std::optional<Reach> reach(int axis, std::span<const Shape> in) const override { return same_elements(axis, in); }

  Kernel forward(const Setting&, std::span<const Operand> in) const override {
    return kernel("forward", Category::forward_pointwise, in[0].shape, {{Kind::x, 0}}, {Kind::y, 0}, f_.value);
  }

  std::vector<Kernel> backward(const Setting&, std::span<const Operand> in) const override {
    if (!in[0].needs_gradient) return {};
    return {kernel("backward", Category::backward_pointwise, in[0].shape, {{Kind::x, 0}, {Kind::dy, 0}}, {Kind::dx, 0},
                   f_.slope)};
  }

 private:
  // to = f(x), times dy if that is read.
  Kernel kernel(std::string name, Category category, const Shape& shape, const std::vector<Slot>& from, Slot to,
                Function f) const {
    const std::int64_t count = shape.count();
    Kernel made{std::move(name), category};
    for (const Slot& slot : from) made.reads.push_back({slot, plain(shape)});
    made.writes = {{to, plain(shape), static_cast<int>(from.size()) - 1}};
    made.flops = static_cast<double>(count);
    made.run = [count, f, a = alpha_, b = beta_, times = from.size() > 1](const Moment&,
                                                                          std::span<const dnnl::memory> m) {
      const float *x = floats(m[0]), *dy = floats(m[times ? 1 : 0]);
      float* y = floats(m.back());
      in_parts(count, [=](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) y[i] = times ? dy[i] * f(x[i], a, b) : f(x[i], a, b);
      });
    };
    return made;
  }

  const Named& f_;
  float alpha_ = 0, beta_ = 0;
};

}  // namespace

extern const OperatorRow elementary{
    "elementary", "a function of one number by its name: abs, sin, erf, ...", make_member<Elementary>, [] {
      std::vector<Problem> list;
      for (const Named& f : functions) {
        Problem problem{fmt::format("elementary(f={})", f.name), {{3, 7}}, -2.9, 3};
        const auto is = [&](auto... names) { return ((f.name == names) || ...); };
        if (is("acos", "asin", "atanh", "tan")) problem.low = -0.9, problem.high = 0.9;
        if (is("acosh")) problem.low = 1.2;
        if (is("log1p", "reciprocal")) problem.low = 0.3;
        problem.flat = f.slope == step;
        list.push_back(problem);
      }
      list.push_back({"elementary(f=hard_sigmoid, alpha=0.4, beta=0.3)", {{3, 7}}, -2.9, 3});
      list.push_back({"elementary(f=selu, alpha=2, gamma=0.7)", {{3, 7}}, -2.9, 3});
      list.push_back({"elementary(f=celu, alpha=2)", {{3, 7}}, -2.9, 3});
      list.push_back({"elementary(f=shrink, bias=0.2, lambd=1)", {{3, 7}}, -2.9, 3});
      return list;
    }()};

}  // namespace isobar::ops
