// batch_norm: normalises every channel (last axis) to mean 0, variance 1 over the other axes, then scales and shifts.
//   y = f(w * h + b),  h = (x - mean) * r,  r = 1 / sqrt(variance + eps);  f: relu with any slope, by fusion
//   dw = sum dz*h;  db = sum dz;  dx = w*r * (dz - sum dz / M - h * sum dz*h / M);  frozen: dx = w*r * dz
// x [..., C]; w, b, mean, variance [C]. Training uses the statistics of the M positions of samples, without padding
// (oneDNN cannot skip rows, hence our own loops, which also fuse relu), and moves the running statistics, which
// inference and frozen use, towards them. With several ranks, M counts those of all; dw and db stay this rank's.
#include <algorithm>
#include <cmath>

#include "isobar/base/error.hpp"
#include "isobar/base/loops.hpp"
#include "isobar/ops/batch_statistics.hpp"
#include "isobar/ops/columns.hpp"
#include "isobar/ops/primitive.hpp"
#include "isobar/ops/seat.hpp"

namespace isobar::ops {
namespace {

using Kind = Slot::Kind;

// Where what a batch is normalised by comes from.
enum class Source { running, batch, ranks };

// Where a kernel finds the sums over all ranks, and the ports of its own.
Port sums_port(int temporary, std::int64_t width) {
  return {{Kind::temp, temporary}, plain({2 * sums_with_count(width)})};
}
std::span<double> sums_in(const dnnl::memory& memory, std::int64_t width) {
  return {static_cast<double*>(memory.get_data_handle()), static_cast<std::size_t>(sums_with_count(width))};
}

class BatchNorm final : public Operator {
 public:
  explicit BatchNorm(Args& args)
      : momentum_(args.real("momentum", 0.1)),
        eps_(args.real("eps", 1e-5)),
        scale_(args.flag("scale", true)),
        shift_(args.flag("shift", true)),
        frozen_(args.flag("frozen", false)),
        unbiased_(args.flag("unbiased", true)),
        seat_(args) {
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

  std::optional<Reach> reach(int axis, std::span<const Shape> in) const override {
    if (axis == in[0].rank() - 1) return std::nullopt;
    Reach reach = same_elements(axis, in);
    reach.statistics = !frozen_;
    return reach;
  }

  std::shared_ptr<const Operator> absorb(const Pointwise& next) const override {
    if (slope_ || next.forward != dnnl::algorithm::eltwise_relu) return nullptr;
    auto fused = std::make_shared<BatchNorm>(*this);
    fused->slope_ = next.alpha;
    return fused;
  }

  std::vector<Kernel> forwards(const Setting& setting, std::span<const Operand> in) const override {
    const Shape& x = in[0].shape;
    const bool batch = setting.phase == Phase::training && !frozen_;
    if (!batch) return {normalise(x, Source::running)};
    if (seat_.ranks == 1) return {normalise(x, Source::batch)};
    Kernel own{"moments", Category::forward_pointwise, {{{Kind::x, 0}, plain(x)}}, {sums_port(0, x[-1])}};
    own.flops = 3.0 * static_cast<double>(x.count());
    own.run = [x](const Moment& moment, std::span<const dnnl::memory> m) {
      pack(batch_statistics(valid_rows(moment, x), x[-1], floats(m[0])), sums_in(m[1], x[-1]));
    };
    return around(forward_talk(seat_), x[-1], std::move(own), normalise(x, Source::ranks));
  }

  std::vector<Kernel> backward(const Setting&, std::span<const Operand> in) const override {
    if (std::none_of(in.begin(), in.end(), [](const Operand& o) { return o.needs_gradient; })) return {};
    const Shape& x = in[0].shape;
    const Layout channels = plain({x[-1]});
    const bool data = in[0].needs_gradient;
    if (!data || frozen_ || seat_.ranks == 1) {
      Kernel kernel = backward_kernel("backward", x, 9);
      if (data) kernel.writes.push_back({{Kind::dx, 0}, plain(x), weights() + 1});
      for (int i = 1; i <= weights() - 2; ++i) kernel.writes.push_back({{Kind::dx, i}, channels});
      kernel.run = [op = *this, x, data, reads = kernel.reads.size()](const Moment& moment,
                                                                      std::span<const dnnl::memory> m) {
        const std::vector<double> sums = op.own_sums(x, m, m.subspan(reads + (data ? 1 : 0)));
        const std::int64_t valid = valid_rows(moment, x);
        if (data) op.write_gradient(x, m, valid, sums, valid, floats(m[reads]));
      };
      return {kernel};
    }
    // The gradients of the weights do not wait for the others' sums.
    Kernel own = backward_kernel("sums", x, 4);
    for (int i = 1; i <= weights() - 2; ++i) own.writes.push_back({{Kind::dx, i}, channels});
    own.writes.push_back(sums_port(0, x[-1]));
    own.run = [op = *this, x, reads = own.reads.size()](const Moment& moment, std::span<const dnnl::memory> m) {
      const std::span<double> sent = sums_in(m.back(), x[-1]);
      std::ranges::copy(op.own_sums(x, m, m.subspan(reads)), sent.begin());
      sent.back() = static_cast<double>(valid_rows(moment, x));
    };
    Kernel last = backward_kernel("backward", x, 5);
    last.reads.push_back(sums_port(2, x[-1]));
    last.writes = {{{Kind::dx, 0}, plain(x), weights() + 1}};
    last.run = [op = *this, x](const Moment& moment, std::span<const dnnl::memory> m) {
      const std::span<const double> sums = sums_in(m[m.size() - 2], x[-1]);
      op.write_gradient(x, m, valid_rows(moment, x), sums, static_cast<std::int64_t>(sums.back()), floats(m.back()));
    };
    return around(backward_talk(seat_), x[-1], std::move(own), std::move(last));
  }

 private:
  // Two kernels, and between them the sum over all ranks of what the first leaves in temporary 0.
  std::vector<Kernel> around(int number, std::int64_t width, Kernel first, Kernel last) const {
    const auto count = static_cast<std::size_t>(sums_with_count(width));
    std::vector<Kernel> both =
        conversation(seat_, number, sums_port(0, width).layout, 0, sum_schedule(seat_, count), Talk::Type::doubles);
    std::vector<Kernel> list;
    for (Kernel* kernel : {&first, &both[0], &both[1], &last}) list.push_back(std::move(*kernel));
    return list;
  }

  Kernel normalise(const Shape& x, Source source) const {
    const Layout layout = plain(x), channels = plain({x[-1]});
    const bool batch = source != Source::running;
    Kernel kernel{"forward", Category::forward_pointwise};
    kernel.flops = (source == Source::batch ? 5.0 : 2.0) * static_cast<double>(x.count());
    kernel.reads = {{{Kind::x, 0}, layout}};
    for (int i = 1; i <= weights(); ++i) kernel.reads.push_back({{Kind::x, i}, channels});
    if (source == Source::ranks) kernel.reads.push_back(sums_port(2, x[-1]));
    kernel.writes = {{{Kind::y, 0}, layout, batch ? -1 : 0}};
    if (batch) {
      kernel.writes.push_back({{Kind::saved, 0}, plain({2, x[-1]})});
      kernel.writes.push_back({{Kind::x, weights() - 1}, channels});
      kernel.writes.push_back({{Kind::x, weights()}, channels});
    }
    kernel.run = [op = *this, x, source, reads = kernel.reads.size()](const Moment& moment,
                                                                      std::span<const dnnl::memory> m) {
      const std::int64_t width = x[-1], rows = x.count() / width;
      const float *mean = floats(m[op.weights() - 1]), *r = nullptr;
      std::vector<float> running;
      if (source == Source::running) {
        running = op.inverse_deviation(floats(m[op.weights()]), width);
        r = running.data();
      } else {
        const BatchStatistics taken = source == Source::ranks
                                          ? unpack(sums_in(m[reads - 1], width))
                                          : batch_statistics(valid_rows(moment, x), width, floats(m[0]));
        float* const saved = floats(m[reads + 1]);
        op.keep(taken, saved, floats(m[reads + 2]), floats(m[reads + 3]));
        mean = saved, r = saved + width;
      }
      const Affine z = op.affine(m, mean, r, width);
      map_rows(rows, width, [&](std::int64_t row) { op.write_row(floats(m[0]), z, row, floats(m[reads])); });
    };
    if (batch) kernel.again = from_saved(kernel);
    return kernel;
  }

  // Recomputes y from the statistics that forward saved; nothing is exchanged or updated.
  std::shared_ptr<const Kernel> from_saved(const Kernel& forward) const {
    const Layout& x = forward.reads[0].layout;
    auto kernel = std::make_shared<Kernel>(Kernel{forward.name, forward.category});
    kernel->flops = 2.0 * padded_count(x);
    kernel->reads.assign(forward.reads.begin(), forward.reads.begin() + weights() + 1);
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

  // With all that the backward pass reads; nothing is written yet.
  Kernel backward_kernel(const char* name, const Shape& x, double flops) const {
    Kernel kernel{name, Category::backward_pointwise};
    kernel.flops = flops * x.count();
    kernel.reads = {{{Kind::x, 0}, plain(x)}};
    for (int i = 1; i <= weights(); ++i) kernel.reads.push_back({{Kind::x, i}, plain({x[-1]})});
    kernel.reads.push_back({{Kind::dy, 0}, plain(x)});
    if (!frozen_) kernel.reads.push_back({{Kind::saved, 0}, plain({2, x[-1]})});
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

  // Without positions on any rank the running statistics stay as they are.
  void keep(const BatchStatistics& taken, float* saved, float* running_mean, float* running_variance) const {
    const auto width = std::ssize(taken.mean);
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

  // The same, with the memory of what they need beside the kernel's own.
  struct Prepared {
    std::vector<float> running;
    Affine z;
    Backwards t;
  };

  Prepared prepare(const Shape& x, std::span<const dnnl::memory> m) const {
    const std::int64_t width = x[-1];
    Prepared p;
    const float* mean = nullptr;
    if (frozen_) {
      p.running = inverse_deviation(floats(m[weights()]), width);
      mean = floats(m[weights() - 1]);
    } else {
      mean = floats(m[weights() + 2]);
    }
    const float* const r = frozen_ ? p.running.data() : mean + width;
    p.z = affine(m, mean, r, width);
    p.t = {floats(m[0]), floats(m[weights() + 1]), mean, r, p.z.a.data(), p.z.b.data(), slope_.value_or(1.0f), width};
    return p;
  }

  // The sums over this rank's positions, which are the gradients of its weights, in `written`.
  std::vector<double> own_sums(const Shape& x, std::span<const dnnl::memory> m,
                               std::span<const dnnl::memory> written) const {
    const std::int64_t width = x[-1];
    const Prepared p = prepare(x, m);
    const auto add = [t = p.t](std::int64_t begin, std::int64_t end, std::span<double> part) {
      add_rows(t, begin, end, part.data());
    };
    std::vector<double> sums = column_sums(x.count() / width, width, 2 * width, add);
    if (scale_) std::copy_n(sums.begin() + width, width, floats(written[0]));
    if (shift_) std::copy_n(sums.begin(), width, floats(written[scale_ ? 1 : 0]));
    return sums;
  }

  // From the sums over all positions that were normalised together.
  void write_gradient(const Shape& x, std::span<const dnnl::memory> m, std::int64_t valid, std::span<const double> sums,
                      std::int64_t positions, float* dx) const {
    const std::int64_t width = x[-1];
    const Prepared prepared = prepare(x, m);
    const Backwards& t = prepared.t;
    // The gradient through the statistics, for the rows they were computed from: p + q * (x - mean) per channel.
    std::vector<float> p(width), q(p);
    for (std::size_t c = 0; !frozen_ && positions > 0 && c < p.size(); ++c) {
      p[c] = static_cast<float>(-t.a[c] * sums[c] / static_cast<double>(positions));
      q[c] = static_cast<float>(-t.a[c] * t.r[c] * sums[width + c] / static_cast<double>(positions));
    }
    const std::vector<float> none(p.size());
    map_rows(x.count() / width, width, [&](std::int64_t i) {
      const bool counts = i < valid;
      write_row_gradient(t, i, counts ? p.data() : none.data(), counts ? q.data() : none.data(), dx);
    });
  }

  double momentum_, eps_;
  bool scale_, shift_, frozen_, unbiased_;
  Seat seat_;
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
