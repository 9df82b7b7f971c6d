// batch_norm: normalises every channel (last axis) to mean 0, variance 1 over the other axes, then scales and shifts.
//   y = f(w * h + b),  h = (x - mean) * r,  r = 1 / sqrt(variance + eps);  f: relu with any slope, by fusion
//   dw = sum dz*h;  db = sum dz;  dx = w*r * (dz - sum dz / M - h * sum dz*h / M);  frozen: dx = w*r * dz
// x [..., C]; w, b, mean, variance [C]. Training uses the statistics of the M positions of samples, without padding
// (oneDNN cannot skip rows, hence our own loops, which also fuse relu), and moves the running statistics, which
// inference and frozen use, towards them. With Moment::sum, M counts all ranks; dw and db stay this rank's share.
#include <algorithm>
#include <cmath>

#include "isobar/base/error.hpp"
#include "isobar/base/loops.hpp"
#include "isobar/ops/columns.hpp"
#include "isobar/ops/joint_sums.hpp"
#include "isobar/ops/op.hpp"
#include "isobar/ops/primitive.hpp"

namespace isobar::ops {
namespace {

using Kind = Slot::Kind;

class BatchNorm final : public Operator {
 public:
  explicit BatchNorm(Args& args)
      : momentum_(args.real("momentum", 0.1)),
        eps_(args.real("eps", 1e-5)),
        scale_(args.flag("scale", true)),
        shift_(args.flag("shift", true)),
        frozen_(args.flag("frozen", false)),
        unbiased_(args.flag("unbiased", true)) {
    args.require(momentum_ >= 0 && momentum_ <= 1, "momentum must lie between 0 and 1");
    args.require(eps_ > 0, "eps must be above 0");
  }

  std::vector<Parameter> parameters(std::span<const Shape> in) const override {
    if (in[0].rank() < 2) fail("x = {} must be [batch, ..., channels]", in[0].str());
    const Shape channels{in[0][-1]};
    std::vector<Parameter> list;
    if (scale_) list.push_back({"w", channels, "constant(value=1)"});
    if (shift_) list.push_back({"b", channels, "constant(value=0)"});
    list.push_back({"mean", channels, "constant(value=0)", false});
    list.push_back({"variance", channels, "constant(value=1)", false});
    return list;
  }

  std::vector<Shape> infer(std::span<const Shape> in) const override {
    for (std::size_t i = 1; i < in.size(); ++i)
      if (in[i] != Shape{in[0][-1]}) fail("x = {} does not fit a weight of {}", in[0].str(), in[i].str());
    return {in[0]};
  }

  std::shared_ptr<const Operator> absorb(const Pointwise& next) const override {
    if (slope_ || next.forward != dnnl::algorithm::eltwise_relu) return nullptr;
    auto fused = std::make_shared<BatchNorm>(*this);
    fused->slope_ = next.alpha;
    return fused;
  }

  Kernel forward(const Setting& setting, std::span<const Operand> in) const override {
    const Shape& x = in[0].shape;
    const Layout layout = plain(x), channels = plain({x[-1]});
    const bool batch = setting.phase == Phase::training && !frozen_;
    Kernel kernel{"forward", Category::forward_pointwise};
    kernel.flops = (batch ? 5.0 : 2.0) * static_cast<double>(x.count());
    kernel.reads = {{{Kind::x, 0}, layout}};
    for (int i = 1; i <= weights(); ++i) kernel.reads.push_back({{Kind::x, i}, channels});
    kernel.writes = {{{Kind::y, 0}, layout, batch ? -1 : 0}};
    if (batch) {
      kernel.writes.push_back({{Kind::saved, 0}, plain({2, x[-1]})});
      kernel.writes.push_back({{Kind::x, weights() - 1}, channels});
      kernel.writes.push_back({{Kind::x, weights()}, channels});
    }
    kernel.run = [op = *this, x, batch](const Moment& moment, std::span<const dnnl::memory> m) {
      const std::int64_t width = x[-1], rows = x.count() / width;
      const std::size_t first_write = op.weights() + 1;
      const float *mean = floats(m[first_write - 2]), *r = nullptr;
      std::vector<float> running;
      if (batch) {
        float* const saved = floats(m[first_write + 1]);
        op.take_statistics(moment, x, floats(m[0]), saved, floats(m[first_write + 2]), floats(m[first_write + 3]));
        mean = saved, r = saved + width;
      } else {
        running = op.inverse_deviation(floats(m[first_write - 1]), width);
        r = running.data();
      }
      const Affine z = op.affine(m, mean, r, width);
      map_rows(rows, width, [&](std::int64_t row) { op.write_row(floats(m[0]), z, row, floats(m[first_write])); });
    };
    if (batch) kernel.again = from_saved(kernel);
    return kernel;
  }

  std::vector<Kernel> backward(const Setting&, std::span<const Operand> in) const override {
    if (std::none_of(in.begin(), in.end(), [](const Operand& o) { return o.needs_gradient; })) return {};
    const Shape& x = in[0].shape;
    const Layout layout = plain(x), channels = plain({x[-1]});
    Kernel kernel{"backward", Category::backward_pointwise};
    kernel.flops = 9.0 * x.count();
    kernel.reads = {{{Kind::x, 0}, layout}};
    for (int i = 1; i <= weights(); ++i) kernel.reads.push_back({{Kind::x, i}, channels});
    kernel.reads.push_back({{Kind::dy, 0}, layout});
    if (!frozen_) kernel.reads.push_back({{Kind::saved, 0}, plain({2, x[-1]})});
    const std::size_t reads = kernel.reads.size();
    const bool data = in[0].needs_gradient;
    if (data) kernel.writes.push_back({{Kind::dx, 0}, layout, weights() + 1});
    for (int i = 1; i <= weights() - 2; ++i) kernel.writes.push_back({{Kind::dx, i}, channels});
    kernel.run = [op = *this, x, reads, data](const Moment& moment, std::span<const dnnl::memory> m) {
      op.gradients(moment, x, m, reads, data);
    };
    return {kernel};
  }

 private:
  // Recomputes y from the statistics that forward saved; nothing is exchanged or updated.
  std::shared_ptr<const Kernel> from_saved(const Kernel& forward) const {
    const Layout& x = forward.reads[0].layout;
    auto kernel = std::make_shared<Kernel>(Kernel{forward.name, forward.category});
    kernel->flops = 2.0 * padded_count(x);
    kernel->reads = forward.reads;
    kernel->reads.push_back({forward.writes[1].slot, forward.writes[1].layout});
    kernel->writes = {{{Kind::y, 0}, x, 0}};
    kernel->run = [op = *this, x](const Moment&, std::span<const dnnl::memory> m) {
      const std::size_t saved = op.weights() + 1;
      const std::int64_t width = m[saved].get_desc().dims()[1], rows = padded_count(x) / width;
      const Affine z = op.affine(m, floats(m[saved]), floats(m[saved]) + width, width);
      map_rows(rows, width, [&](std::int64_t row) { op.write_row(floats(m[0]), z, row, floats(m[saved + 1])); });
    };
    return kernel;
  }

  int weights() const { return 2 + (scale_ ? 1 : 0) + (shift_ ? 1 : 0); }

  // Rows of x, seen as [rows, channels], that belong to samples. Axis 0 may hold several rows for each sample.
  static std::int64_t valid_rows(const Moment& moment, const Shape& x) {
    const std::int64_t inner = x.count(1, x.rank() - 1);
    if (moment.rows == 0) return 0;
    if (moment.batch > 0 && x[0] % moment.batch != 0) return x[0] * inner;
    const std::int64_t per_sample = moment.batch > 0 ? x[0] / moment.batch : 1;
    return std::min(x[0], moment.rows * per_sample) * inner;
  }

  template <class Row>
  static void map_rows(std::int64_t rows, std::int64_t width, Row&& row) {
    const auto part = [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) row(i);
    };
    in_parts(rows, part, std::max<std::int64_t>(1, loop_part / width));
  }

  std::vector<float> inverse_deviation(const float* variance, std::int64_t width) const {
    std::vector<float> r(width);
    for (std::size_t c = 0; c < r.size(); ++c) r[c] = static_cast<float>(1 / std::sqrt(variance[c] + eps_));
    return r;
  }

  // z = a * (x - mean) + b per channel; the difference comes first, so that a large mean costs no accuracy.
  struct Affine {
    std::vector<float> a, b;
    const float* mean;
  };

  Affine affine(std::span<const dnnl::memory> m, const float* mean, const float* r, std::int64_t width) const {
    Affine z{std::vector<float>(r, r + width), std::vector<float>(width), mean};
    const float* const w = floats(m[1]);
    for (std::size_t i = 0; scale_ && i < z.a.size(); ++i) z.a[i] *= w[i];
    if (shift_) std::copy_n(floats(m[scale_ ? 2 : 1]), width, z.b.begin());
    return z;
  }

  void write_row(const float* x, const Affine& affine, std::int64_t row, float* y) const {
    const auto width = std::ssize(affine.a);
    const float *from = x + row * width, *a = affine.a.data(), *b = affine.b.data(), *mean = affine.mean;
    float* const to = y + row * width;
    const float slope = slope_.value_or(1.0f);
#pragma omp simd
    for (std::int64_t i = 0; i < width; ++i) {
      const float z = a[i] * (from[i] - mean[i]) + b[i];
      to[i] = z > 0 ? z : slope * z;
    }
  }

  // For every channel, the mean and the variance over `count` positions.
  struct Statistics {
    std::int64_t count = 0;
    std::vector<double> mean, variance;
  };

  // Sums are taken relative to the first row, so that a mean far from zero does not hide the variance.
  static Statistics own_statistics(std::int64_t rows, std::int64_t width, const float* values) {
    const auto add = [=](std::int64_t begin, std::int64_t end, std::span<double> sums) {
      add_pairs(begin, end, width, sums.data(), [=](auto lanes, std::int64_t c) {
        using L = decltype(lanes);
        return [=, shift = numbers<L>(values + c)](std::int64_t row, typename L::Floats& first,
                                                   typename L::Floats& second) {
          const typename L::Floats d = numbers<L>(values + row * width + c) - shift;
          first += d;
          second = multiply_add<L>(d, d, second);
        };
      });
    };
    Statistics own{rows, std::vector<double>(width), {}};
    own.variance = own.mean;
    if (rows == 0) return own;
    const std::vector<double> sums = column_sums(rows, width, 2 * width, add);
    const auto count = static_cast<double>(rows);
    for (std::size_t c = 0; c < own.mean.size(); ++c) {
      const double offset = sums[c] / count;
      own.mean[c] = values[c] + offset;
      own.variance[c] = std::max(0.0, sums[width + c] / count - offset * offset);
    }
    return own;
  }

  // The statistics of all ranks from those of each, without reading the numbers again. A first exchange finds the mean
  // to the precision of a float, a second the small remaining difference, and the squares around the mean.
  static Statistics joint_statistics(const Moment& moment, const Statistics& own) {
    const std::size_t width = own.mean.size();
    const auto rows = static_cast<double>(own.count);
    Statistics all = own;
    for (double& mean : all.mean) mean *= rows;
    all.count = sum_over_ranks(moment, own.count, all.mean);
    if (all.count == 0) return all;
    const auto count = static_cast<double>(all.count);
    std::vector<double> around(2 * width);
    for (std::size_t c = 0; c < width; ++c) {
      all.mean[c] /= count;
      const double offset = own.mean[c] - all.mean[c];
      around[c] = rows * offset;
      around[width + c] = rows * (own.variance[c] + offset * offset);
    }
    sum_over_ranks(moment, own.count, around);
    for (std::size_t c = 0; c < width; ++c) {
      const double offset = around[c] / count;
      all.mean[c] += offset;
      all.variance[c] = std::max(0.0, around[width + c] / count - offset * offset);
    }
    return all;
  }

  void take_statistics(const Moment& moment, const Shape& x, const float* values, float* saved, float* running_mean,
                       float* running_variance) const {
    const std::int64_t width = x[-1];
    Statistics taken = own_statistics(valid_rows(moment, x), width, values);
    if (moment.sum) taken = joint_statistics(moment, taken);
    if (taken.count == 0) {
      std::fill_n(saved, 2 * width, 0.0f);
      return;
    }
    const auto count = static_cast<double>(taken.count);
    const double bessel = unbiased_ && taken.count > 1 ? count / (count - 1) : 1;
    for (std::int64_t c = 0; c < width; ++c) {
      const double mean = taken.mean[c], variance = taken.variance[c];
      saved[c] = static_cast<float>(mean);
      saved[width + c] = static_cast<float>(1 / std::sqrt(variance + eps_));
      running_mean[c] = static_cast<float>((1 - momentum_) * running_mean[c] + momentum_ * mean);
      running_variance[c] = static_cast<float>((1 - momentum_) * running_variance[c] + momentum_ * bessel * variance);
    }
  }

  // What the loops over rows of the backward pass read; passed by value, so that it stays in registers.
  struct Backwards {
    const float *x, *dy, *mean, *r, *a, *b;
    float slope;
    std::int64_t width;
  };

  // The sums of dz and dz * h.
  static void add_rows(const Backwards t, std::int64_t begin, std::int64_t end, double* sums) {
    add_pairs(begin, end, t.width, sums, [t](auto lanes, std::int64_t c) {
      using L = decltype(lanes);
      using Floats = typename L::Floats;
      return [t, c, mean = numbers<L>(t.mean + c), r = numbers<L>(t.r + c), a = numbers<L>(t.a + c),
              b = numbers<L>(t.b + c)](std::int64_t row, Floats& first, Floats& second) {
        const Floats d = numbers<L>(t.x + row * t.width + c) - mean, dy = numbers<L>(t.dy + row * t.width + c);
        const Floats dz = multiply_add<L>(a, d, b) > 0 ? dy : t.slope * dy;
        first += dz;
        second = multiply_add<L>(dz, d * r, second);
      };
    });
  }

  static void write_row_gradient(const Backwards t, std::int64_t row, const float* p, const float* q, float* dx) {
    const float *const x = t.x + row * t.width, *const dy = t.dy + row * t.width;
    float* const to = dx + row * t.width;
#pragma omp simd
    for (std::int64_t c = 0; c < t.width; ++c) {
      const float d = x[c] - t.mean[c], dz = (t.a[c] * d + t.b[c] > 0 ? 1.0f : t.slope) * dy[c];
      to[c] = t.a[c] * dz + (p[c] + q[c] * d);
    }
  }

  void gradients(const Moment& moment, const Shape& x, std::span<const dnnl::memory> m, std::size_t reads,
                 bool data) const {
    const std::int64_t width = x[-1], rows = x.count() / width, valid = valid_rows(moment, x);
    const float* const values = floats(m[0]);
    const float* const dy = floats(m[weights() + 1]);
    const float* mean = frozen_ ? floats(m[weights() - 1]) : floats(m[reads - 1]);
    const std::vector<float> running = frozen_ ? inverse_deviation(floats(m[weights()]), width) : std::vector<float>();
    const float* r = frozen_ ? running.data() : mean + width;
    const Affine z = affine(m, mean, r, width);
    const Backwards t{values, dy, mean, r, z.a.data(), z.b.data(), slope_.value_or(1.0f), width};
    const auto add = [t](std::int64_t begin, std::int64_t end, std::span<double> part) {
      add_rows(t, begin, end, part.data());
    };
    std::vector<double> sums = column_sums(rows, width, 2 * width, add);
    std::size_t next = reads;
    float* const dx = data ? floats(m[next++]) : nullptr;
    if (scale_) std::copy_n(sums.begin() + width, width, floats(m[next++]));
    if (shift_) std::copy_n(sums.begin(), width, floats(m[next]));
    if (!data) return;
    std::int64_t positions = valid;
    if (moment.sum && !frozen_) positions = sum_over_ranks(moment, valid, sums);
    // The gradient through the statistics, for the rows they were computed from: p + q * (x - mean) per channel.
    std::vector<float> p(width), q(p);
    for (std::size_t c = 0; !frozen_ && positions > 0 && c < p.size(); ++c) {
      p[c] = static_cast<float>(-t.a[c] * sums[c] / static_cast<double>(positions));
      q[c] = static_cast<float>(-t.a[c] * r[c] * sums[width + c] / static_cast<double>(positions));
    }
    const std::vector<float> none(p.size());
    map_rows(rows, width, [&](std::int64_t i) {
      const bool counts = i < valid;
      write_row_gradient(t, i, counts ? p.data() : none.data(), counts ? q.data() : none.data(), dx);
    });
  }

  double momentum_, eps_;
  bool scale_, shift_, frozen_, unbiased_;
  std::optional<float> slope_;  // of an absorbed relu for negative numbers
};

}  // namespace

extern const OperatorRow batch_norm{"batch_norm",
                                    "every channel brought to mean 0 and variance 1, then scaled and shifted",
                                    make_member<BatchNorm>,
                                    {
                                        {"batch_norm", {{3, 4, 5, 3}}},
                                        {"batch_norm", {{7, 2}}},
                                        {"batch_norm(scale=false)", {{2, 3, 2, 2, 17}}},
                                        {"batch_norm(shift=false, eps=0.01)", {{2, 5, 3}}},
                                        {"batch_norm(scale=false, shift=false)", {{4, 3}}},
                                        {"batch_norm(frozen=true)", {{2, 3, 3, 4}}},
                                    }};

}  // namespace isobar::ops
