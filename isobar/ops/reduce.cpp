// reduce: folds axes of x into one number each, by default all axes but the batch. Over the R elements x_i of one y:
//   sum: dx_i = dy                  mean: dx_i = dy / R             log_sum, y = log sum x_i: dx_i = dy / exp(y)
//   l1, y = sum |x_i|: dy sign(x_i)     sum_square, y = sum x_i^2: 2 dy x_i      l2, y = sqrt(sum x_i^2): dy x_i / y
//   log_sum_exp: dy exp(x_i - y)    prod: dy * product of the others    max, min: dy at the first extreme
#include <array>
#include <cmath>
#include <limits>

#include "isobar/ops/axes.hpp"
#include "isobar/ops/broadcast.hpp"
#include "isobar/ops/primitive.hpp"
#include "isobar/ops/reduction.hpp"

namespace isobar::ops {
namespace {

using Kind = Slot::Kind;

enum class Fold { sum, mean, log_sum, l1, sum_square, l2, log_sum_exp, prod, max, min };
constexpr std::array<std::string_view, 10> fold_names{"sum", "mean",        "log_sum", "l1",  "sum_square",
                                                      "l2",  "log_sum_exp", "prod",    "max", "min"};

struct AbsoluteSum : SumOf {
  static void take(double& sum, float x, std::int64_t) { sum += std::abs(static_cast<double>(x)); }
};

struct SquareSum : SumOf {
  static void take(double& sum, float x, std::int64_t) { sum += static_cast<double>(x) * x; }
};

struct ProductOf {
  struct State {
    double value = 1;
  };
  static void take(State& product, float x, std::int64_t) { product.value *= static_cast<double>(x); }
  static void join(State& product, const State& later) { product.value *= later.value; }
};

// exp is applied to differences from the largest number so far, so that nothing overflows.
struct LogSumExp {
  struct State {
    double largest = -std::numeric_limits<double>::infinity(), sum = 0;
  };
  static void take(State& state, float x, std::int64_t) {
    if (const auto v = static_cast<double>(x); v > state.largest) join(state, {v, 1});
    else state.sum += std::exp(v - state.largest);
  }
  static void join(State& state, const State& later) {
    if (later.sum == 0) return;
    const double largest = std::max(state.largest, later.largest);
    state.sum = state.sum * std::exp(state.largest - largest) + later.sum * std::exp(later.largest - largest);
    state.largest = largest;
  }
};

template <int sign>
struct Extreme {
  struct State {
    float value = -std::numeric_limits<float>::infinity();
    std::int64_t place = std::numeric_limits<std::int64_t>::max();
  };
  static void take(State& best, float x, std::int64_t which) { join(best, {sign * x, which}); }
  static void join(State& best, const State& other) {
    const bool better = other.value > best.value || (other.value == best.value && other.place < best.place);
    best.value = better ? other.value : best.value;
    best.place = better ? other.place : best.place;
  }
};

template <int sign>
void extremes(const Reduction& plan, const float* x, float* y, std::int32_t* places) {
  fold_axes<Extreme<sign>>(plan, x, [=](std::int64_t i, const typename Extreme<sign>::State& best) {
    y[i] = sign * best.value;
    if (places) places[i] = static_cast<std::int32_t>(best.place);
  });
}

void fold(Fold kind, const Reduction& plan, const float* x, float* y, std::int32_t* places) {
  const auto store = [y](auto finish) {
    return [=](std::int64_t i, const auto& state) { y[i] = static_cast<float>(finish(state)); };
  };
  const auto as_is = store([](double v) { return v; });
  switch (kind) {
    case Fold::sum: return fold_axes<SumOf>(plan, x, as_is);
    case Fold::mean:
      return fold_axes<SumOf>(plan, x, store([n = static_cast<double>(plan.folded())](double v) { return v / n; }));
    case Fold::log_sum: return fold_axes<SumOf>(plan, x, store([](double v) { return std::log(v); }));
    case Fold::l1: return fold_axes<AbsoluteSum>(plan, x, as_is);
    case Fold::sum_square: return fold_axes<SquareSum>(plan, x, as_is);
    case Fold::l2: return fold_axes<SquareSum>(plan, x, store([](double v) { return std::sqrt(v); }));
    case Fold::log_sum_exp:
      return fold_axes<LogSumExp>(plan, x, store([](const auto& s) { return s.largest + std::log(s.sum); }));
    case Fold::prod: return fold_axes<ProductOf>(plan, x, store([](const auto& s) { return s.value; }));
    case Fold::max: return extremes<1>(plan, x, y, places);
    case Fold::min: return extremes<-1>(plan, x, y, places);
  }
}

// Calls work(slope), where slope(x, y) is dy/dx for kinds that need only these two.
template <class Work>
void with_slope(Fold kind, std::int64_t folded, Work&& work) {
  const float share = 1 / static_cast<float>(folded);
  switch (kind) {
    case Fold::mean: return work([share](float, float) { return share; });
    case Fold::log_sum: return work([](float, float y) { return std::exp(-y); });
    case Fold::l1: return work([](float x, float) { return static_cast<float>((x > 0) - (x < 0)); });
    case Fold::sum_square: return work([](float x, float) { return 2 * x; });
    case Fold::l2: return work([](float x, float y) { return y == 0 ? 0 : x / y; });
    case Fold::log_sum_exp: return work([](float x, float y) { return std::exp(x - y); });
    case Fold::prod: return work([](float x, float y) { return x == 0 ? 0 : y / x; });
    default: return work([](float, float) { return 1.0f; });
  }
}

// Where x is zero, y / x is not the product of the others, so they are multiplied. A second zero ends the search.
void mend_zeros(const Reduction& plan, const float* x, const float* dy, float* dx) {
  in_parts(
      plan.outputs(),
      [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t o = begin; o < end; ++o) {
          std::int64_t zero = -1, zeros = 0;
          double others = 1;
          for (std::int64_t w = 0; w < plan.folded() && zeros < 2; ++w) {
            const std::int64_t at = plan.element(o, w);
            if (x[at] == 0) zero = at, ++zeros;
            else others *= static_cast<double>(x[at]);
          }
          if (zeros == 1) dx[zero] = static_cast<float>(dy[o] * others);
        }
      },
      std::max<std::int64_t>(1, loop_part / plan.folded()));
}

class Reduce final : public Operator {
 public:
  explicit Reduce(Args& args)
      : axes_(args.integers("axes", {})), all_(!args.has("axes")), keep_(args.flag("keep", false)) {
    const std::string kind = args.one_of(
        "kind", "sum", {"sum", "mean", "max", "min", "prod", "l1", "l2", "log_sum", "log_sum_exp", "sum_square"});
    kind_ = static_cast<Fold>(std::find(fold_names.begin(), fold_names.end(), kind) - fold_names.begin());
  }

  std::vector<Shape> infer(std::span<const Shape> in) const override { return {result(in[0], keep_)}; }

  // An axis of y is one of x that is kept; that of the samples stays whole, wherever it is in y.
  std::optional<Reach> reach(int axis, std::span<const Shape> in) const override {
    const std::vector<bool> chosen = reduced(in[0]);
    int from = axis;
    for (int a = 0; !keep_ && a <= from && a < in[0].rank(); ++a) from += chosen[a];
    if (from == 0 || chosen[from]) return std::nullopt;
    return same_elements(from, in);
  }

  Kernel forward(const Setting& setting, std::span<const Operand> in) const override {
    const Shape &x = in[0].shape, y = result(x, keep_);
    Kernel kernel{"forward", Category::forward_pointwise};
    kernel.reads = {{{Kind::x, 0}, plain(x)}};
    kernel.writes = {{{Kind::y, 0}, plain(y)}};
    const bool saves = picks() && setting.phase == Phase::training;
    if (saves) kernel.writes.push_back({{Kind::saved, 0}, plain(y, Dtype::s32)});
    kernel.flops = static_cast<double>(x.count());
    kernel.run = [plan = Reduction(x, reduced(x)), kind = kind_, saves](const Moment&,
                                                                        std::span<const dnnl::memory> m) {
      fold(kind, plan, floats(m[0]), floats(m[1]),
           saves ? static_cast<std::int32_t*>(m[2].get_data_handle()) : nullptr);
    };
    return kernel;
  }

  std::vector<Kernel> backward(const Setting&, std::span<const Operand> in) const override {
    if (!in[0].needs_gradient) return {};
    const Shape &x = in[0].shape, y = result(x, keep_);
    Kernel kernel{"backward", Category::backward_pointwise};
    kernel.reads = {{{Kind::dy, 0}, plain(y)}};
    kernel.writes = {{{Kind::dx, 0}, plain(x)}};
    kernel.flops = 2.0 * x.count();
    const Reduction plan(x, reduced(x));
    if (picks()) {
      kernel.reads.push_back({{Kind::saved, 0}, plain(y, Dtype::s32)});
      kernel.run = [plan, count = x.count()](const Moment&, std::span<const dnnl::memory> m) {
        const float* dy = floats(m[0]);
        const auto* places = static_cast<const std::int32_t*>(m[1].get_data_handle());
        float* dx = floats(m[2]);
        in_parts(count, [=](std::int64_t begin, std::int64_t end) { std::fill(dx + begin, dx + end, 0.0f); });
        in_parts(plan.outputs(), [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t o = begin; o < end; ++o) dx[plan.element(o, places[o])] = dy[o];
        });
      };
      return {kernel};
    }
    const bool reads_x = kind_ != Fold::sum && kind_ != Fold::mean && kind_ != Fold::log_sum;
    const bool reads_y =
        kind_ == Fold::l2 || kind_ == Fold::log_sum || kind_ == Fold::log_sum_exp || kind_ == Fold::prod;
    if (reads_x) kernel.reads.push_back({{Kind::x, 0}, plain(x)}), kernel.writes[0].alias_of = 1;
    if (reads_y) kernel.reads.push_back({{Kind::y, 0}, plain(y)});
    if (kind_ == Fold::prod) kernel.writes[0].alias_of = -1;  // zeros are searched for after the rest is written
    const std::array<Shape, 1> small{result(x, true)};
    kernel.run = [=, kind = kind_, loop = BroadcastLoop(x, small)](const Moment&, std::span<const dnnl::memory> m) {
      const float *dy = floats(m[0]), *from = floats(m[reads_x ? 1 : 0]);
      const float* values = floats(m[reads_y ? (reads_x ? 2 : 1) : 0]);
      float* dx = floats(m.back());
      with_slope(kind, plan.folded(), [&](auto slope) {
        with_strides(reads_x, loop.moves(0), [&](auto sx, auto sy) {
          loop.run([&](std::int64_t at, const std::int64_t* first, std::int64_t length) {
            const float *p = from + (reads_x ? at : 0), *q = values + first[0], *g = dy + first[0];
            for (std::int64_t i = 0; i < length; ++i) dx[at + i] = g[i * sy] * slope(p[i * sx], q[i * sy]);
          });
        });
      });
      if (kind == Fold::prod) mend_zeros(plan, from, dy, dx);
    };
    return {kernel};
  }

 private:
  bool picks() const { return kind_ == Fold::max || kind_ == Fold::min; }

  std::vector<bool> reduced(const Shape& x) const {
    if (!all_) return chosen_axes(axes_, x);
    std::vector<bool> chosen(x.rank(), true);
    if (x.rank() > 0) chosen[0] = false;
    return chosen;
  }

  Shape result(const Shape& x, bool keep) const {
    const std::vector<bool> chosen = reduced(x);
    std::vector<std::int64_t> extents;
    for (int axis = 0; axis < x.rank(); ++axis) {
      const bool folds = chosen[axis];
      if (!folds || keep) extents.push_back(folds ? 1 : x[axis]);
    }
    return Shape(extents);
  }

  std::vector<std::int64_t> axes_;
  bool all_, keep_;
  Fold kind_ = Fold::sum;
};

}  // namespace

extern const OperatorRow reduce{"reduce",
                                "sum, mean, maximum or another fold over axes",
                                make_member<Reduce>,
                                {
                                    {"reduce", {{3, 4, 5}}},
                                    {"reduce(axes=[0, 1])", {{6, 100, 70}}},
                                    {"reduce(kind=mean, axes=[1, 2], keep=true)", {{2, 3, 4, 5}}},
                                    {"reduce(kind=max, axes=[1, 3])", {{2, 3, 4, 5}}},
                                    {"reduce(kind=min, axes=-1)", {{2, 3, 19}}},
                                    {"reduce(kind=prod, axes=[0])", {{4, 5}}},
                                    {"reduce(kind=l1)", {{2, 3, 5}}},
                                    {"reduce(kind=l2, axes=[-1])", {{2, 3, 5}}},
                                    {"reduce(kind=log_sum)", {{2, 11}}, 0.5, 2},
                                    {"reduce(kind=log_sum_exp, axes=[0, 2])", {{2, 3, 7}}},
                                    {"reduce(kind=sum_square, axes=[1], keep=true)", {{2, 9, 3}}},
                                    {"reduce(kind=mean)", {{1, 20000}}},
                                }};

}  // namespace isobar::ops
