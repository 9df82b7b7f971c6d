// Reductions over axes: y = end(sum of term(x)), and maximum, minimum and product. Without axes, all are reduced.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "isobar/onnx/functions.hpp"

namespace isobar::onnx {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::vector<int> reduced_axes(const Call& call) {
  const int rank = call[0].rank();
  const auto given = call.integers("axes", 1);
  if (given && !given->empty()) return checked_axes(*given, rank);
  if (call.node.integer("noop_with_empty_axes", 0) != 0) return {};
  std::vector<int> all(rank);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

/// The dims of the result with reduced axes kept as 1.
Dims kept_dims(const Call& call, const std::vector<int>& axes) {
  Dims dims = call[0].dims;
  for (const int axis : axes) dims[axis] = 1;
  return dims;
}
Arrays infer_reduced(const Call& call) {
  const std::vector<int> axes = reduced_axes(call);
  Dims dims = kept_dims(call, axes);
  if (call.node.integer("keepdims", 1) == 0)
    for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) dims.erase(dims.begin() + *axis);
  return {described(call[0].type, dims)};
}

/// y = f(y, x) for every element x that is folded into y.
template <class F>
void accumulate(const Call& call, const Array& x, std::vector<double>& y, F f) {
  const Dims strides = broadcast_strides(kept_dims(call, reduced_axes(call)), x.dims);
  std::size_t i = 0;
  walk(x.dims, std::array{strides}, [&](const auto& at) { y[at[0]] = f(y[at[0]], x.values[i++]); });
}

template <auto term, auto end>
void fill_sum(const Call& call, Arrays& out) {
  accumulate(call, call.known(0), out[0].values, [](double y, double x) { return y + term(x); });
  for (double& y : out[0].values) y = end(y);
}

template <auto f>
void fill_with(const Call& call, Arrays& out, double start) {
  out[0].values.assign(out[0].values.size(), start);
  accumulate(call, call.known(0), out[0].values, f);
}
double larger_of(double y, double x) { return x > y || x != x ? x : y; }
double smaller_of(double y, double x) { return x < y || x != x ? x : y; }

void fill_max(const Call& call, Arrays& out) { fill_with<larger_of>(call, out, -infinity); }
void fill_min(const Call& call, Arrays& out) { fill_with<smaller_of>(call, out, infinity); }
void fill_product(const Call& call, Arrays& out) {
  fill_with<[](double y, double x) { return y * x; }>(call, out, 1);
}

void fill_reduced_mean(const Call& call, Arrays& out) {
  double count = 1;
  for (const int axis : reduced_axes(call)) count *= static_cast<double>(call[0].dims[axis]);
  accumulate(call, call.known(0), out[0].values, [](double y, double x) { return y + x; });
  for (double& y : out[0].values) y /= count;
}

/// The maximum is subtracted before the exponential, so that nothing overflows.
void fill_log_sum_exp(const Call& call, Arrays& out) {
  fill_max(call, out);
  const std::vector<double> largest = out[0].values;
  const Array& x = call.known(0);
  std::vector<double> sum(largest.size());
  const Dims strides = broadcast_strides(kept_dims(call, reduced_axes(call)), x.dims);
  std::size_t i = 0;
  walk(x.dims, std::array{strides}, [&](const auto& at) {
    const double top = largest[at[0]];
    sum[at[0]] += std::exp(x.values[i++] - (std::isfinite(top) ? top : 0));
  });
  for (std::size_t n = 0; n < sum.size(); ++n)
    out[0].values[n] = std::log(sum[n]) + (std::isfinite(largest[n]) ? largest[n] : 0);
}

double same(double x) { return x; }
double square(double x) { return x * x; }

}  // namespace

std::span<const Function> reduction_functions() {
  static constexpr Function all[] = {
      function<infer_reduced, fill_sum<[](double x) { return std::fabs(x); }, same>>("ReduceL1"),
      function<infer_reduced, fill_sum<square, [](double y) { return std::sqrt(y); }>>("ReduceL2"),
      function<infer_reduced, fill_sum<same, [](double y) { return std::log(y); }>>("ReduceLogSum"),
      function<infer_reduced, fill_log_sum_exp>("ReduceLogSumExp"),
      function<infer_reduced, fill_max>("ReduceMax"),
      function<infer_reduced, fill_reduced_mean>("ReduceMean"),
      function<infer_reduced, fill_min>("ReduceMin"),
      function<infer_reduced, fill_product>("ReduceProd"),
      function<infer_reduced, fill_sum<same, same>>("ReduceSum"),
      function<infer_reduced, fill_sum<square, same>>("ReduceSumSquare"),
  };
  return all;
}

}  // namespace isobar::onnx
