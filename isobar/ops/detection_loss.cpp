// detection_loss: boxes on a grid; p, t [N, gh, gw, 6 + classes]: x, y, w, h, object, none, classes. Object cells have
// t_object > 0; h is smooth L1 with its knee at 1; e = 1e-5; CE is softmax cross entropy. dp is the derivative. l(n) is
//   a: sum over object cells of 5 h(xy) + 7 h(wh) - ln(p_object + e) - sum over c of t_c ln(p_c + e), plus the sum over
//      empty cells of -0.5 ln(p_none + e); object, none and classes of p are probabilities
//   b: mean over object cells of h(xy) + h(wh) + CE(classes), plus the mean over all cells of CE({object, none}), or 0
//      without object cells; object, none and classes of p are logits
#include "isobar/ops/loss.hpp"

namespace isobar::ops {
namespace {

using Kind = Slot::Kind;

constexpr int object = 4, none = 5, first_class = 6;
constexpr double epsilon = 1e-5;

double smooth(double d) { return std::abs(d) < 1 ? d * d / 2 : std::abs(d) - 0.5; }
double smooth_slope(double d) { return std::clamp(d, -1.0, 1.0); }

// Loss of one cell; with dp, also its derivative. `inside` weights an object cell's terms, `grid` the objectness of b.
class Cell {
 public:
  Cell(bool logits, std::int64_t channels) : logits_(logits), classes_(channels - first_class) {}

  double operator()(const float* p, const float* t, double inside, double grid, double factor, float* dp) const {
    const bool is_object = t[object] > 0;
    double sum = 0;
    const auto add = [&](int c, double weight, double value, double slope) {
      if (weight != 0) sum += weight * value;
      if (dp) dp[c] = weight == 0 ? 0.0f : static_cast<float>(factor * weight * slope);
    };
    for (int c = 0; c < object; ++c) {
      const double weight = !is_object ? 0 : logits_ ? inside : c < 2 ? 5 : 7, d = static_cast<double>(p[c]) - t[c];
      add(c, weight, smooth(d), smooth_slope(d));
    }
    if (!logits_) {
      for (const int c : {object, none}) {
        const double weight = (c == object) != is_object ? 0 : is_object ? 1 : 0.5, q = p[c] + epsilon;
        add(c, weight, -std::log(q), -1 / q);
      }
      for (int c = first_class; c < first_class + classes_; ++c) {
        const double q = p[c] + epsilon;
        add(c, is_object ? t[c] : 0, is_object ? -std::log(q) : 0, -1 / q);
      }
      return sum;
    }
    const double norm = log_sum_exp(p + object, 2);
    for (const int c : {object, none}) {
      const bool hit = (c == object) == is_object;
      add(c, grid, hit ? norm - p[c] : 0, std::exp(p[c] - norm) - hit);
    }
    const double class_norm = log_sum_exp(p + first_class, classes_);
    double labels = 0;
    for (int c = first_class; c < first_class + classes_; ++c) labels += t[c];
    for (int c = first_class; c < first_class + classes_; ++c)
      add(c, is_object ? inside : 0, t[c] * (class_norm - p[c]), labels * std::exp(p[c] - class_norm) - t[c]);
    return sum;
  }

 private:
  bool logits_;
  std::int64_t classes_;
};

// The sum of l(n) over rows that hold samples; with dp, also its derivative times `factor`.
class DetectionGrid {
 public:
  DetectionGrid(bool logits, const Shape& x)
      : channels_(x[-1]), cells_(x.count() / x[0] / x[-1]), cell_(logits, x[-1]) {}

  double operator()(const Moment& moment, const float* p, const float* t, double factor, float* dp) const {
    const auto rows = [&](std::int64_t begin, std::int64_t end) {
      double sum = 0;
      for (std::int64_t n = begin; n < end; ++n) {
        std::int64_t objects = 0;
        for (std::int64_t i = 0; i < cells_; ++i) objects += t[(n * cells_ + i) * channels_ + object] > 0;
        const double inside = objects > 0 ? 1 / static_cast<double>(objects) : 0;
        const double grid = objects > 0 ? 1 / static_cast<double>(cells_) : 0;
        for (std::int64_t i = n * cells_; i < (n + 1) * cells_; ++i)
          sum += cell_(p + i * channels_, t + i * channels_, inside, grid, factor, dp ? dp + i * channels_ : nullptr);
      }
      return sum;
    };
    return ordered_sum(moment.rows, rows, 1);
  }

 private:
  std::int64_t channels_, cells_;
  Cell cell_;
};

class DetectionLoss final : public Loss {
 public:
  explicit DetectionLoss(Args& args) : logits_(args.one_of("variant", "a", {"a", "b"}) == "b") {}

  std::vector<Shape> infer(std::span<const Shape> in) const override {
    if (in[0] != in[1]) fail("prediction is {}, target is {}: the shapes must be equal", in[0].str(), in[1].str());
    if (in[0].rank() < 3 || in[0][-1] <= first_class)
      fail("prediction = {} must be [batch, grid..., channels] with x, y, w, h, object, none and at least one class",
           in[0].str());
    return {Shape{1}};
  }

  // Variant b has means over the cells with an object.
  std::optional<Reach> reach(int axis, std::span<const Shape> in) const override {
    if (logits_ || axis == in[0].rank() - 1) return std::nullopt;
    return summed_reach(axis, in);
  }

  Kernel forward(const Setting&, std::span<const Operand> in) const override {
    return {"forward",
            Category::forward_pointwise,
            {{{Kind::x, 0}, plain(in[0].shape)}, {{Kind::x, 1}, plain(in[1].shape)}},
            {{{Kind::y, 0}, plain({1})}},
            4.0 * in[0].shape.count(),
            [grid = DetectionGrid(logits_, in[0].shape)](const Moment& moment, std::span<const dnnl::memory> m) {
              floats(m[2])[0] = static_cast<float>(grid(moment, floats(m[0]), floats(m[1]), 0, nullptr) / moment.total);
            }};
  }

  std::vector<Kernel> backward(const Setting&, std::span<const Operand> in) const override {
    expects(!in[1].needs_gradient, "a target without gradient");
    if (!in[0].needs_gradient) return {};
    const std::int64_t row = in[0].shape.count() / in[0].shape[0];
    return {{"backward",
             Category::backward_pointwise,
             {{{Kind::x, 0}, plain(in[0].shape)}, {{Kind::x, 1}, plain(in[1].shape)}, {{Kind::dy, 0}, plain({1})}},
             {{{Kind::dx, 0}, plain(in[0].shape)}},
             8.0 * in[0].shape.count(),
             [row, count = in[0].shape.count(), grid = DetectionGrid(logits_, in[0].shape)](
                 const Moment& moment, std::span<const dnnl::memory> m) {
               float* dp = floats(m[3]);
               grid(moment, floats(m[0]), floats(m[1]), floats(m[2])[0] / moment.total, dp);
               std::fill(dp + moment.rows * row, dp + count, 0.0f);
             }}};
  }

 private:
  bool logits_;
};

}  // namespace

extern const OperatorRow detection_loss{
    "detection_loss",
    "boxes on a grid: place, size, objectness and class",
    make_member<DetectionLoss>,
    {{"detection_loss", {{2, 3, 4, 10}, {2, 3, 4, 10}}, 0.1, 2.5, {0, 2}},
     {"detection_loss(variant=b)", {{2, 3, 4, 10}, {2, 3, 4, 10}}, -2.5, 2.5, {0, 2}},
     {"detection_loss(variant=b)", {{3, 5, 8}, {3, 5, 8}}, -1, 1, {0, 2}}}};

}  // namespace isobar::ops
