#include "isobar/ops/lstm_direction.hpp"

#include <algorithm>

#include <oneapi/dnnl/dnnl.h>

#include "isobar/base/loops.hpp"
#include "isobar/ops/columns.hpp"
#include "isobar/ops/exponential.hpp"

namespace isobar::ops {
namespace {

// Calls row(n) for all samples, in parallel if a step has enough numbers.
template <class Row>
void over_batch(const LstmCase& p, const Row& row) {
  const auto part = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t n = begin; n < end; ++n) row(n);
  };
  in_parts(p.batch, part, std::max<std::int64_t>(1, loop_part / 4 / p.units));
}

// Computes the gates of one sample and step from their sums, then the new cell and hidden state.
void step(float* gates, std::int64_t units, float forget_bias, const float* cell_before, float* cell, float* hidden) {
  float *const i = gates, *const f = gates + units, *const g = gates + 2 * units, *const o = gates + 3 * units;
#pragma omp simd
  for (std::int64_t u = 0; u < units; ++u) {
    i[u] = logistic(i[u]);
    f[u] = logistic(f[u] + forget_bias);
    g[u] = hyperbolic_tangent(g[u]);
    o[u] = logistic(o[u]);
    const float before = cell_before ? cell_before[u] : 0.0f;
    cell[u] = f[u] * before + i[u] * g[u];
    hidden[u] = o[u] * hyperbolic_tangent(cell[u]);
  }
}

// Computes dgates of one sample and step; dc becomes the gradient of the previous cell.
void step_back(const float* gates, std::int64_t units, const float* cell_before, const float* cell, const float* dy,
               const float* dh, float* dc, float* dgates) {
  const float *const i = gates, *const f = gates + units, *const g = gates + 2 * units, *const o = gates + 3 * units;
#pragma omp simd
  for (std::int64_t u = 0; u < units; ++u) {
    const float through = hyperbolic_tangent(cell[u]), before = cell_before ? cell_before[u] : 0.0f;
    const float dhidden = dh[u] + (dy ? dy[u] : 0.0f);
    const float dcell = dc[u] + dhidden * o[u] * (1 - through * through);
    dgates[u] = dcell * g[u] * i[u] * (1 - i[u]);
    dgates[units + u] = dcell * before * f[u] * (1 - f[u]);
    dgates[2 * units + u] = dcell * i[u] * (1 - g[u] * g[u]);
    dgates[3 * units + u] = dhidden * through * o[u] * (1 - o[u]);
    dc[u] = dcell * f[u];
  }
}

}  // namespace

void lstm_forward(const LstmCase& p, const LstmData& data) {
  const std::int64_t width = 4 * p.units, row = p.steps * width;
  for (std::int64_t r = 0; r < p.batch * p.steps; ++r) {
    if (data.b) std::copy_n(data.b, width, data.gates + r * width);
    else std::fill_n(data.gates + r * width, width, 0.0f);
  }
  dnnl_sgemm('N', 'T', p.batch * p.steps, width, p.features, 1, data.x, p.features, data.w, p.features, 1, data.gates,
             width);
  for (std::int64_t s = 0; s < p.steps; ++s) {
    const std::int64_t t = p.time(s), before = s == 0 ? -1 : p.time(s - 1);
    const float* const hidden = s == 0 ? data.h0 : data.hidden + before * p.y_width;
    if (hidden)
      dnnl_sgemm('N', 'T', p.batch, width, p.units, 1, hidden, s == 0 ? p.units : p.steps * p.y_width, data.r, p.units,
                 1, data.gates + t * width, row);
    over_batch(p, [&](std::int64_t n) {
      const float* const first = data.c0 ? data.c0 + n * p.units : nullptr;
      step(data.gates + n * row + t * width, p.units, p.forget_bias,
           s == 0 ? first : data.cells + (n * p.steps + before) * p.units, data.cells + (n * p.steps + t) * p.units,
           data.hidden + (n * p.steps + t) * p.y_width);
    });
  }
}

void lstm_backward(const LstmCase& p, const LstmData& data, const LstmGradients& d) {
  const std::int64_t width = 4 * p.units, row = p.steps * width, rows = p.batch * p.steps;
  float *const dh = d.dh0, *const dc = d.dc0;  // updated step by step; finally those of the initial state
  std::copy_n(d.dh, p.batch * p.units, dh);
  std::copy_n(d.dc, p.batch * p.units, dc);
  for (std::int64_t s = p.steps; s-- > 0;) {
    const std::int64_t t = p.time(s), before = s == 0 ? -1 : p.time(s - 1);
    over_batch(p, [&](std::int64_t n) {
      const std::int64_t at = n * p.steps + t, last = n * p.steps + before;
      const float* const cell = s > 0 ? data.cells + last * p.units : data.c0 ? data.c0 + n * p.units : nullptr;
      const float* const hidden = s > 0 ? data.hidden + last * p.y_width : data.h0 ? data.h0 + n * p.units : nullptr;
      step_back(data.gates + at * width, p.units, cell, data.cells + at * p.units,
                d.dy ? d.dy + at * p.y_width : nullptr, dh + n * p.units, dc + n * p.units, d.dgates + at * width);
      if (hidden) std::copy_n(hidden, p.units, d.previous + at * p.units);
      else std::fill_n(d.previous + at * p.units, p.units, 0.0f);
    });
    dnnl_sgemm('N', 'N', p.batch, p.units, width, 1, d.dgates + t * width, row, data.r, p.units, 0, dh, p.units);
  }
  dnnl_sgemm('T', 'N', width, p.features, rows, 1, d.dgates, width, data.x, p.features, 0, d.dw, p.features);
  dnnl_sgemm('T', 'N', width, p.units, rows, 1, d.dgates, width, d.previous, p.units, 0, d.dr, p.units);
  if (d.db) sum_rows(rows, width, d.dgates, d.db);
  dnnl_sgemm('N', 'N', rows, p.features, width, 1, d.dgates, width, data.w, p.features, d.add_to_dx ? 1.0f : 0.0f, d.dx,
             p.features);
}

}  // namespace isobar::ops
