// resize: changes the extents of the spatial axes by interpolation, as ONNX's Resize defines it.
//   y[n, p, c] = sum over q of A1[p1, q1] * A2[p2, q2] * A3[p3, q3] * x[n, q, c];  dx: the same with A transposed
// x [N, spatial..., C]. Every axis has a sparse matrix A with 1 (nearest), 2 (linear) or 4 (cubic) numbers per row,
// made once while planning. Forward and backward run the same loop, which writes each number of the result once.
#include <algorithm>
#include <array>
#include <cmath>

#include "isobar/base/error.hpp"
#include "isobar/base/loops.hpp"
#include "isobar/ops/op.hpp"
#include "isobar/ops/primitive.hpp"
#include "isobar/ops/window.hpp"

namespace isobar::ops {
namespace {

using Kind = Slot::Kind;

// Row i holds the entries [first[i], first[i + 1]).
struct Sparse {
  std::int64_t columns = 1;
  Extents first{0, 1}, column{0};
  std::vector<float> weight{1};
  std::int64_t rows() const { return std::ssize(first) - 1; }
};

struct Entry {
  std::int64_t row, column;
  double weight;
};

// Entries must be sorted by row.
Sparse compressed(const std::vector<Entry>& entries, std::int64_t rows, std::int64_t columns) {
  Sparse matrix{columns, Extents(rows + 1, 0), {}, {}};
  for (const Entry& e : entries) {
    ++matrix.first[e.row + 1];
    matrix.column.push_back(e.column);
    matrix.weight.push_back(static_cast<float>(e.weight));
  }
  for (std::size_t i = 1; i < matrix.first.size(); ++i) matrix.first[i] += matrix.first[i - 1];
  return matrix;
}

struct ResizeGeometry {
  Sparse axes[3];  // missing leading axes have extent 1
  std::int64_t batch, channels;
};

void apply(const ResizeGeometry& g, const float* x, float* y) {
  const Sparse &a = g.axes[0], &b = g.axes[1], &c = g.axes[2];
  const std::int64_t image = a.columns * b.columns * c.columns * g.channels;
  const auto line = [&](std::int64_t number, std::int64_t) {
    const std::int64_t i = number / b.rows() % a.rows(), j = number % b.rows();
    const float* const from = x + number / (a.rows() * b.rows()) * image;
    float* to = y + number * c.rows() * g.channels;
    for (std::size_t k = 0; k + 1 < c.first.size(); ++k, to += g.channels) {
      std::fill_n(to, g.channels, 0.0f);
      for (std::int64_t ai = a.first[i]; ai < a.first[i + 1]; ++ai)
        for (std::int64_t bi = b.first[j]; bi < b.first[j + 1]; ++bi) {
          const std::int64_t row = (a.column[ai] * b.columns + b.column[bi]) * c.columns;
          for (std::int64_t ci = c.first[k]; ci < c.first[k + 1]; ++ci) {
            const float weight = a.weight[ai] * b.weight[bi] * c.weight[ci];
            const float* const source = from + (row + c.column[ci]) * g.channels;
#pragma omp simd
            for (std::int64_t e = 0; e < g.channels; ++e) to[e] += weight * source[e];
          }
        }
    }
  };
  in_parts(g.batch * a.rows() * b.rows(), line, 1);
}

// An axis of the whole, and the part of it that is computed, from the part of x that there is.
struct ResizedAxis {
  std::int64_t in, out;
  double scale;
  Interval rows, columns;
};

class Resize final : public Operator {
 public:
  explicit Resize(Args& args)
      : size_(args.integers("size", {})),
        factor_(args.reals("factor", {})),
        scales_(args.reals("scales", {})),
        kind_(args.one_of("kind", "nearest", {"nearest", "linear", "cubic"})),
        coordinates_(args.one_of("coordinates", "half_pixel",
                                 {"half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"})),
        rounding_(args.one_of("rounding", "round_prefer_floor",
                              {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"})),
        cubic_a_(args.real("cubic_a", -0.75)),
        exclude_outside_(args.flag("exclude_outside", false)) {
    args.require(size_.empty() != factor_.empty(), "give either size or factor");
    args.require(all_at_least(size_, 1), "size must be at least 1");
    const auto positive = [](const std::vector<double>& v) {
      return std::all_of(v.begin(), v.end(), [](double s) { return s > 0; });
    };
    args.require(positive(factor_), "factor must be above 0");
    args.require(positive(scales_), "scales must be above 0");
  }

  std::vector<Shape> infer(std::span<const Shape> in) const override {
    const int axes = spatial_rank(in[0]);
    Shape y = in[0];
    for (int a = 0; a < axes; ++a) {
      const std::int64_t extent = in[0][a + 1];
      if (parts_[a]) {
        expects(extent == parts_[a]->columns.extent(), "what a part reads, no more and no less");
        y[a + 1] = parts_[a]->rows.extent();
        continue;
      }
      y[a + 1] = factor_.empty() ? spread(size_, axes, "size")[a]
                                 : static_cast<std::int64_t>(
                                       std::floor(static_cast<double>(extent) * of_axis(factor_, axes, a, "factor")));
      if (y[a + 1] < 1) fail("axis {} of x = {} would have no element left", a + 1, in[0].str());
      if (!scales_.empty()) of_axis(scales_, axes, a, "scales");
    }
    return {y};
  }

  std::optional<Reach> reach(int axis, std::span<const Shape> in) const override {
    if (axis == in[0].rank() - 1) return same_elements(axis, in);
    const Sparse m = matrix(fitted(axis - 1, in[0]), false);
    Reach reach{{{axis, {}}}};
    for (std::int64_t p = 0; p < m.rows(); ++p) {
      const auto [least, most] = std::minmax_element(m.column.begin() + m.first[p], m.column.begin() + m.first[p + 1]);
      reach.in[0].window.push_back({*least, *most + 1});
    }
    return reach;
  }

  std::shared_ptr<const Operator> cropped(const Crop& crop) const override {
    if (crop.axis == crop.in[0].rank() - 1) return nullptr;
    auto part = std::make_shared<Resize>(*this);
    ResizedAxis axis = fitted(crop.axis - 1, crop.in[0]);
    axis.rows = {axis.rows.begin + crop.out.begin, axis.rows.begin + crop.out.end};
    axis.columns = {axis.columns.begin + crop.read[0].begin, axis.columns.begin + crop.read[0].end};
    part->parts_[crop.axis - 1] = axis;
    return part;
  }

  Kernel forward(const Setting&, std::span<const Operand> in) const override {
    return kernel("forward", Category::forward_pointwise, in[0].shape, false);
  }

  std::vector<Kernel> backward(const Setting&, std::span<const Operand> in) const override {
    if (!in[0].needs_gradient) return {};
    return {kernel("backward", Category::backward_pointwise, in[0].shape, true)};
  }

 private:
  static double of_axis(const std::vector<double>& given, int axes, int axis, std::string_view what) {
    if (given.size() == 1) return given[0];
    if (std::ssize(given) != axes) fail("{} has {} numbers, x has {} spatial axes", what, given.size(), axes);
    return given[axis];
  }

  // The input position, with its fraction, of output position p of one axis.
  double source(double p, double in, double out, double scale) const {
    if (coordinates_ == "asymmetric") return p / scale;
    if (coordinates_ == "align_corners") {  // scales that do not give whole extents align with the fractional extent
      const double length = scales_.empty() ? out : in * scale;
      return length == 1 ? 0 : p * (in - 1) / (length - 1);
    }
    if (coordinates_ == "pytorch_half_pixel" && out == 1) return 0;
    return (p + 0.5) / scale - 0.5;
  }

  double rounded(double at) const {
    if (rounding_ == "round_prefer_floor") return std::ceil(at - 0.5);
    if (rounding_ == "round_prefer_ceil") return std::floor(at + 0.5);
    return rounding_ == "floor" ? std::floor(at) : std::ceil(at);
  }

  // Weights of the neighbours of a position; the first neighbour is number `first`.
  std::vector<double> weights(double at, std::int64_t& first) const {
    if (kind_ == "nearest") {
      first = static_cast<std::int64_t>(rounded(at));
      return {1};
    }
    const double t = at - std::floor(at);
    first = static_cast<std::int64_t>(std::floor(at));
    if (kind_ == "linear") return {1 - t, t};
    --first;
    const double a = cubic_a_;
    const auto near = [a](double d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };
    const auto far = [a](double d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
    return {far(1 + t), near(t), near(1 - t), far(2 - t)};
  }

  ResizedAxis fitted(int a, const Shape& x) const {
    if (parts_[a]) return *parts_[a];
    const int axes = x.rank() - 2;
    const std::int64_t in = x[a + 1], out = infer(std::span(&x, 1))[0][a + 1];
    const double scale = !scales_.empty()   ? of_axis(scales_, axes, a, "scales")
                         : !factor_.empty() ? of_axis(factor_, axes, a, "factor")
                                            : static_cast<double>(out) / in;
    return {in, out, scale, {0, out}, {0, in}};
  }

  Sparse matrix(const ResizedAxis& axis, bool transposed) const {
    std::vector<Entry> entries;
    const std::int64_t in = axis.in, rows = axis.rows.extent(), columns = axis.columns.extent();
    for (std::int64_t row = 0; row < rows; ++row) {
      std::int64_t first = 0;
      std::vector<double> w = weights(source(static_cast<double>(axis.rows.begin + row), static_cast<double>(in),
                                             static_cast<double>(axis.out), axis.scale),
                                      first);
      double total = 0;  // weights outside count for the nearest border, or not at all
      for (std::size_t i = 0; i < w.size(); ++i) {
        const std::int64_t q = first + static_cast<std::int64_t>(i);
        if (exclude_outside_ && kind_ != "nearest" && (q < 0 || q >= in)) w[i] = 0;
        total += w[i];
      }
      for (std::size_t i = 0; i < w.size(); ++i) {
        const std::int64_t q = std::clamp<std::int64_t>(first + static_cast<std::int64_t>(i), 0, in - 1);
        if (w[i] != 0) entries.push_back({row, q - axis.columns.begin, w[i] / total});
      }
    }
    if (!transposed) return compressed(entries, rows, columns);
    for (Entry& e : entries) std::swap(e.row, e.column);
    std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.row < b.row; });
    return compressed(entries, columns, rows);
  }

  Kernel kernel(const char* name, Category category, const Shape& x, bool transposed) const {
    const Shape y = infer(std::span(&x, 1))[0];
    const int axes = x.rank() - 2;
    ResizeGeometry g{{}, x[0], x[-1]};
    double products = static_cast<double>(x[0] * x[-1]);
    for (int a = 0; a < axes; ++a) {
      Sparse& axis = g.axes[3 - axes + a];
      axis = matrix(fitted(a, x), transposed);
      products *= static_cast<double>(axis.weight.size());
    }
    Kernel kernel{name, category};
    kernel.flops = 2 * products;
    kernel.reads = {{transposed ? Slot{Kind::dy, 0} : Slot{Kind::x, 0}, plain(transposed ? y : x)}};
    kernel.writes = {{transposed ? Slot{Kind::dx, 0} : Slot{Kind::y, 0}, plain(transposed ? x : y)}};
    kernel.run = [g](const Moment&, std::span<const dnnl::memory> m) { apply(g, floats(m[0]), floats(m[1])); };
    return kernel;
  }

  Extents size_;
  std::vector<double> factor_, scales_;
  std::string kind_, coordinates_, rounding_;
  double cubic_a_;
  bool exclude_outside_;
  std::array<std::optional<ResizedAxis>, 3> parts_{};  // axes of which only a part is computed
};

}  // namespace

extern const OperatorRow resize{
    "resize",
    "other extents of the spatial axes: nearest, linear or cubic",
    make_member<Resize>,
    {
        {"resize(factor=2)", {{1, 3, 4, 5}}},
        {"resize(factor=[2, 3], kind=linear)", {{2, 3, 2, 3}}},
        {"resize(size=[7, 2], kind=linear, coordinates=align_corners)", {{1, 4, 5, 2}}},
        {"resize(size=[3, 4, 3], kind=linear, coordinates=asymmetric)", {{1, 2, 3, 4, 3}}},
        {"resize(size=5, kind=cubic)", {{2, 3, 2}}},
        {"resize(size=[6, 3], kind=cubic, exclude_outside=true, cubic_a=-0.5)", {{1, 4, 5, 2}}},
        {"resize(size=[1, 3], kind=linear, coordinates=pytorch_half_pixel)", {{1, 4, 2, 3}}},
        {"resize(size=7, coordinates=asymmetric, rounding=floor)", {{1, 4, 3}}},
        {"resize(size=7, rounding=round_prefer_ceil, scales=[1.8])", {{1, 4, 3}}},
        {"resize(size=2, coordinates=asymmetric, rounding=ceil)", {{1, 5, 3}}},
    }};

}  // namespace isobar::ops
