// Softmax, LogSoftmax, Hardmax. Before operator set 13 the axes from `axis` on count as one; since then only `axis`.
#include <algorithm>
#include <cmath>

#include "isobar/onnx/functions.hpp"

namespace isobar::onnx {
namespace {

Around rows(const Call& call) {
  const Dims& dims = call[0].dims;
  const bool coerced = call.version < 13;
  const int axis = checked_axis(call.node.integer("axis", coerced ? 1 : -1), call[0].rank());
  if (!coerced) return around(dims, axis);
  const std::span<const std::int64_t> all(dims);
  return {product(all.first(axis)), product(all.subspan(axis)), 1};
}

Arrays infer_rows(const Call& call) {
  rows(call);
  return infer_same(call);
}

/// Calls f(x, y, step, n) for every row.
template <class F>
void for_each_row(const Call& call, Arrays& out, F f) {
  const Array& x = call.known(0);
  const Around form = rows(call);
  if (form.extent == 0) return;
  for (std::int64_t o = 0; o < form.outer; ++o)
    for (std::int64_t i = 0; i < form.inner; ++i) {
      const std::int64_t at = o * form.extent * form.inner + i;
      f(x.values.data() + at, out[0].values.data() + at, form.inner, form.extent);
    }
}

std::int64_t largest(const double* x, std::int64_t step, std::int64_t n) {
  std::int64_t best = 0;
  for (std::int64_t i = 1; i < n; ++i)
    if (x[i * step] > x[best * step]) best = i;
  return best;
}

template <bool logarithm>
void fill_softmax(const Call& call, Arrays& out) {
  for_each_row(call, out, [](const double* x, double* y, std::int64_t step, std::int64_t n) {
    const double top = x[largest(x, step, n) * step];
    double sum = 0;
    for (std::int64_t i = 0; i < n; ++i) sum += std::exp(x[i * step] - top);
    for (std::int64_t i = 0; i < n; ++i)
      y[i * step] = logarithm ? x[i * step] - top - std::log(sum) : std::exp(x[i * step] - top) / sum;
  });
}

void fill_hardmax(const Call& call, Arrays& out) {
  for_each_row(call, out, [](const double* x, double* y, std::int64_t step, std::int64_t n) {
    y[largest(x, step, n) * step] = 1;
  });
}

}  // namespace

std::span<const Function> softmax_functions() {
  static constexpr Function all[] = {
      function<infer_rows, fill_hardmax>("Hardmax"),
      function<infer_rows, fill_softmax<true>>("LogSoftmax"),
      function<infer_rows, fill_softmax<false>>("Softmax"),
  };
  return all;
}

}  // namespace isobar::onnx
