// attention: every position of q gathers from v what matches in k, for each of several heads.
//   y = P v,  P = softmax over s of z,  z[t, s] = q[t] . k[s] / sqrt(W/heads);  causal: s <= t only
//   dv = P^T dy;  dz = P * (dy v^T - sum over W/heads of dy * y);  dq = dz k / sqrt(W/heads);  dk = dz^T q / sqrt(...)
// q, y [N, T, W], k, v [N, S, W]; heads are slices of W. P is never stored whole: rows are processed in blocks, forward
// saves the logarithm of each row's sum [N, heads, T], and backward recomputes P from it. That costs one more product
// (not counted as work) and saves T*S numbers per head, which at T = S = 1024 and 64 numbers per head is 16 times q.
#include <algorithm>
#include <cmath>
#include <omp.h>

#include "isobar/base/error.hpp"
#include "isobar/base/instructions.hpp"
#include "isobar/ops/exponential.hpp"
#include "isobar/ops/op.hpp"
#include "isobar/ops/primitive.hpp"

namespace isobar::ops {
namespace {

using Kind = Slot::Kind;

constexpr std::int64_t block = 64;  // rows of q processed at a time

struct AttentionGeometry {
  std::int64_t batch, heads, queries, keys, width;
  bool causal;
  std::int64_t part() const { return width / heads; }
  float scale() const { return 1 / std::sqrt(static_cast<float>(part())); }
  // Keys that the rows before `end` may see.
  std::int64_t seen(std::int64_t end) const { return causal ? std::min(keys, end) : keys; }
};

// One head of one sample: pointers to its slice of each tensor; rows are `width` apart.
struct Head {
  const float *q, *k, *v;
  std::int64_t query_offset, key_offset;  // of the slice in tensors like q, like k
  std::int64_t number;

  Head(const AttentionGeometry& g, std::int64_t i, std::span<const dnnl::memory> m)
      : query_offset(i / g.heads * g.queries * g.width + i % g.heads * g.part()),
        key_offset(i / g.heads * g.keys * g.width + i % g.heads * g.part()),
        number(i) {
    q = floats(m[0]) + query_offset;
    k = floats(m[1]) + key_offset;
    v = floats(m[2]) + key_offset;
  }
};

// c [rows, columns] = factor * a b + rest * c for row-major matrices; a or b transposed on request.
void product(char turn_a, char turn_b, std::int64_t rows, std::int64_t columns, std::int64_t depth, float factor,
             const float* a, std::int64_t a_step, const float* b, std::int64_t b_step, float rest, float* c,
             std::int64_t c_step) {
  dnnl_sgemm(turn_a, turn_b, rows, columns, depth, factor, a, a_step, b, b_step, rest, c, c_step);
}

// p [rows, keys] = z of `rows` rows from `first` on, up to the last key that one of them sees.
void scores(const AttentionGeometry& g, const Head& head, std::int64_t first, std::int64_t rows, float* p) {
  const std::int64_t seen = g.seen(first + rows);
  product('N', 'T', rows, seen, g.part(), g.scale(), head.q + first * g.width, g.width, head.k, g.width, 0, p, g.keys);
}

void forward_block(const AttentionGeometry& g, const Head& head, std::int64_t first, float* p, float* y,
                   float* logarithm) {
  const std::int64_t rows = std::min(block, g.queries - first), seen = g.seen(first + rows);
  scores(g, head, first, rows, p);
  float share[block];
  for (std::int64_t t = 0; t < rows; ++t) {
    float* const row = p + t * g.keys;
    const std::int64_t visible = g.seen(first + t + 1);
    float most = row[0], sum = 0;
#pragma omp simd reduction(max : most)
    for (std::int64_t s = 0; s < visible; ++s) most = std::max(most, row[s]);
#pragma omp simd reduction(+ : sum)
    for (std::int64_t s = 0; s < visible; ++s) sum += row[s] = exponential(row[s] - most);
    std::fill(row + visible, row + seen, 0.0f);
    share[t] = 1 / sum;
    if (logarithm) logarithm[head.number * g.queries + first + t] = most + std::log(sum);
  }
  float* const to = y + head.query_offset + first * g.width;
  product('N', 'N', rows, g.part(), seen, 1, p, g.keys, head.v, g.width, 0, to, g.width);
  for (std::int64_t t = 0; t < rows; ++t)
    for (std::int64_t c = 0; c < g.part(); ++c) to[t * g.width + c] *= share[t];
}

struct Gradients {
  const float *y, *dy, *logarithm;
  float *dq, *dk, *dv;
};

void backward_block(const AttentionGeometry& g, const Head& head, const Gradients& d, std::int64_t first, float* p,
                    float* dp) {
  const std::int64_t rows = std::min(block, g.queries - first), seen = g.seen(first + rows), part = g.part();
  const std::int64_t offset = head.query_offset + first * g.width;
  scores(g, head, first, rows, p);
  product('N', 'T', rows, seen, part, 1, d.dy + offset, g.width, head.v, g.width, 0, dp, g.keys);
  for (std::int64_t t = 0; t < rows; ++t) {
    const float *const dy = d.dy + offset + t * g.width, *const y = d.y + offset + t * g.width;
    float mean = 0;
    for (std::int64_t c = 0; c < part; ++c) mean += dy[c] * y[c];
    float *const row = p + t * g.keys, *const drow = dp + t * g.keys;
    const float logarithm = d.logarithm[head.number * g.queries + first + t];
    const std::int64_t visible = g.seen(first + t + 1);
#pragma omp simd
    for (std::int64_t s = 0; s < visible; ++s) {
      row[s] = exponential(row[s] - logarithm);
      drow[s] = row[s] * (drow[s] - mean);
    }
    std::fill(row + visible, row + seen, 0.0f);
    std::fill(drow + visible, drow + seen, 0.0f);
  }
  product('T', 'N', seen, part, rows, 1, p, g.keys, d.dy + offset, g.width, 1, d.dv + head.key_offset, g.width);
  product('N', 'N', rows, part, seen, g.scale(), dp, g.keys, head.k, g.width, 0, d.dq + offset, g.width);
  product('T', 'N', seen, part, rows, g.scale(), dp, g.keys, head.q + first * g.width, g.width, 1,
          d.dk + head.key_offset, g.width);
}

// Calls task(number, thread) for all tasks; if there are fewer tasks than threads, one after the other, so that the
// products inside use all threads.
void over_tasks(std::int64_t tasks, int threads, Dispatched<void(std::int64_t number, int thread)> task) {
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (tasks >= threads)
  for (std::int64_t i = 0; i < tasks; ++i) task(i, omp_get_thread_num());
}

class Attention final : public Operator {
 public:
  explicit Attention(Args& args) : heads_(args.integer("heads", 1)), causal_(args.flag("causal", false)) {
    args.require(heads_ >= 1, "heads must be at least 1");
  }

  int arity() const override { return 3; }

  std::vector<Shape> infer(std::span<const Shape> in) const override {
    const bool fits =
        in[0].rank() == 3 && in[1].rank() == 3 && in[1] == in[2] && in[0][0] == in[1][0] && in[0][2] == in[1][2];
    if (!fits)
      fail("q = {}, k = {}, v = {} must be [batch, length, width], k and v alike", in[0].str(), in[1].str(),
           in[2].str());
    if (in[0][2] % heads_ != 0) fail("heads = {} does not divide the width {} of q", heads_, in[0][2]);
    return {in[0]};
  }

  Kernel forward(const Setting& setting, std::span<const Operand> in) const override {
    const AttentionGeometry g = fitted(in);
    const int threads = omp_get_max_threads();
    const bool saves = setting.phase == Phase::training;
    Kernel kernel{"forward", Category::forward_convolution};
    kernel.flops = 4.0 * pairs(g) * g.width;
    for (int i = 0; i < 3; ++i) kernel.reads.push_back({{Kind::x, i}, plain(in[i].shape)});
    kernel.writes = {{{Kind::y, 0}, plain(in[0].shape)}, {{Kind::temp, 0}, plain({threads, block, g.keys})}};
    if (saves) kernel.writes.push_back({{Kind::saved, 0}, plain({g.batch, g.heads, g.queries})});
    kernel.run = [g, threads, saves](const Moment&, std::span<const dnnl::memory> m) {
      const std::int64_t blocks = (g.queries + block - 1) / block;
      over_tasks(g.batch * g.heads * blocks, threads, [&](std::int64_t i, int thread) {
        forward_block(g, Head(g, i / blocks, m), i % blocks * block, floats(m[4]) + thread * block * g.keys,
                      floats(m[3]), saves ? floats(m[5]) : nullptr);
      });
    };
    return kernel;
  }

  std::vector<Kernel> backward(const Setting&, std::span<const Operand> in) const override {
    const AttentionGeometry g = fitted(in);
    const int threads = omp_get_max_threads();
    Kernel kernel{"backward", Category::backward_convolution};
    kernel.flops = 8.0 * pairs(g) * g.width;
    for (int i = 0; i < 3; ++i) {
      kernel.reads.push_back({{Kind::x, i}, plain(in[i].shape)});
      kernel.writes.push_back({{Kind::dx, i}, plain(in[i].shape)});
    }
    kernel.reads.push_back({{Kind::y, 0}, plain(in[0].shape)});
    kernel.reads.push_back({{Kind::dy, 0}, plain(in[0].shape)});
    kernel.reads.push_back({{Kind::saved, 0}, plain({g.batch, g.heads, g.queries})});
    kernel.writes.push_back({{Kind::temp, 1}, plain({threads, 2 * block, g.keys})});
    kernel.run = [g, threads](const Moment&, std::span<const dnnl::memory> m) {
      const Gradients d{floats(m[3]), floats(m[4]), floats(m[5]), floats(m[6]), floats(m[7]), floats(m[8])};
      over_tasks(g.batch * g.heads, threads, [&](std::int64_t i, int thread) {
        const Head head(g, i, m);
        for (float* const sum : {d.dk, d.dv})
          for (std::int64_t s = 0; s < g.keys; ++s) std::fill_n(sum + head.key_offset + s * g.width, g.part(), 0.0f);
        float* const room = floats(m[9]) + thread * 2 * block * g.keys;
        for (std::int64_t first = 0; first < g.queries; first += block)
          backward_block(g, head, d, first, room, room + block * g.keys);
      });
    };
    return {kernel};
  }

 private:
  AttentionGeometry fitted(std::span<const Operand> in) const {
    const Shape &q = in[0].shape, &k = in[1].shape;
    return {q[0], heads_, q[1], k[1], q[2], causal_};
  }

  // Pairs of a query and a key that it sees.
  static double pairs(const AttentionGeometry& g) {
    double count = 0;
    for (std::int64_t t = 0; t < g.queries; ++t) count += static_cast<double>(g.seen(t + 1));
    return count * static_cast<double>(g.batch);
  }

  std::int64_t heads_;
  bool causal_;
};

}  // namespace

extern const OperatorRow attention{"attention",
                                   "softmax(q k^T / sqrt(width of a head)) v, for several heads",
                                   make_member<Attention>,
                                   {
                                       {"attention", {{2, 3, 4}, {2, 3, 4}, {2, 3, 4}}},
                                       {"attention(heads=2)", {{2, 3, 6}, {2, 5, 6}, {2, 5, 6}}},
                                       {"attention(heads=3, causal=true)", {{2, 5, 6}, {2, 5, 6}, {2, 5, 6}}},
                                       {"attention(causal=true)", {{1, 70, 2}, {1, 67, 2}, {1, 67, 2}}},
                                   }};

}  // namespace isobar::ops
