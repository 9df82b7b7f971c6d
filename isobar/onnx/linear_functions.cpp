// Linear algebra: MatMul, Gemm, Det, and Einsum in its general form (repeated labels, sums, an ellipsis).
#include <algorithm>
#include <cmath>
#include <map>

#include "isobar/onnx/functions.hpp"

namespace isobar::onnx {
namespace {

/// C[b] = A[b] B[b]: matrices of m x k and k x n after broadcast batch axes.
struct Product {
  Dims a_batch, b_batch, batch;
  std::int64_t m, k, n;
};
Product matrices(const Call& call) {
  Dims a = call[0].dims, b = call[1].dims;
  if (a.empty() || b.empty()) fail("a matrix product of {} and {}; scalars have none", dims_text(a), dims_text(b));
  if (a.size() == 1) a.insert(a.begin(), 1);
  if (b.size() == 1) b.push_back(1);
  const std::int64_t m = a[a.size() - 2], k = a.back(), n = b.back();
  if (b[b.size() - 2] != k) fail("{} and {} have no matrix product", dims_text(call[0].dims), dims_text(call[1].dims));
  a.resize(a.size() - 2);
  b.resize(b.size() - 2);
  return {a, b, broadcast(a, b), m, k, n};
}
Arrays infer_matmul(const Call& call) {
  const Product form = matrices(call);
  Dims dims = form.batch;
  if (call[0].rank() > 1) dims.push_back(form.m);
  if (call[1].rank() > 1) dims.push_back(form.n);
  return {described(call[0].type, dims)};
}
void fill_matmul(const Call& call, Arrays& out) {
  const Array &a = call.known(0), &b = call.known(1);
  const Product form = matrices(call);
  double* to = out[0].values.data();
  walk(form.batch, std::array{broadcast_strides(form.a_batch, form.batch), broadcast_strides(form.b_batch, form.batch)},
       [&](const auto& at) {
         const double* left = a.values.data() + at[0] * form.m * form.k;
         const double* right = b.values.data() + at[1] * form.k * form.n;
         for (std::int64_t i = 0; i < form.m; ++i, to += form.n)
           for (std::int64_t k = 0; k < form.k; ++k)
             for (std::int64_t j = 0; j < form.n; ++j) to[j] += left[i * form.k + k] * right[k * form.n + j];
       });
}

struct Gemm {
  bool a_turned, b_turned;
  std::int64_t m, k, n;
};
Gemm gemm(const Call& call) {
  expect_rank(call, 0, 2);
  expect_rank(call, 1, 2);
  const bool a_turned = call.node.integer("transA", 0) != 0, b_turned = call.node.integer("transB", 0) != 0;
  const Dims &a = call[0].dims, &b = call[1].dims;
  if (a[a_turned ? 0 : 1] != b[b_turned ? 1 : 0]) fail("{} and {} have no product", dims_text(a), dims_text(b));
  return {a_turned, b_turned, a[a_turned ? 1 : 0], a[a_turned ? 0 : 1], b[b_turned ? 0 : 1]};
}
Arrays infer_gemm(const Call& call) {
  const Gemm form = gemm(call);
  if (call.has(2)) broadcast_strides(call[2].dims, {form.m, form.n});
  return {described(call[0].type, {form.m, form.n})};
}
/// alpha A B + beta C.
void fill_gemm(const Call& call, Arrays& out) {
  const Array &a = call.known(0), &b = call.known(1);
  const Gemm form = gemm(call);
  const double alpha = call.node.number("alpha", 1), beta = call.node.number("beta", 1);
  std::vector<double>& y = out[0].values;
  if (call.has(2)) {
    const Array& c = call.known(2);
    std::size_t i = 0;
    walk(out[0].dims, std::array{broadcast_strides(c.dims, out[0].dims)},
         [&](const auto& at) { y[i++] = beta * c.values[at[0]]; });
  }
  for (std::int64_t i = 0; i < form.m; ++i)
    for (std::int64_t k = 0; k < form.k; ++k) {
      const double left = alpha * a.values[form.a_turned ? k * form.m + i : i * form.k + k];
      for (std::int64_t j = 0; j < form.n; ++j)
        y[i * form.n + j] += left * b.values[form.b_turned ? j * form.k + k : k * form.n + j];
    }
}

Arrays infer_determinant(const Call& call) {
  Dims dims = call[0].dims;
  if (dims.size() < 2 || dims.back() != dims[dims.size() - 2]) fail("{} holds no square matrices", dims_text(dims));
  dims.resize(dims.size() - 2);
  return {described(call[0].type, dims)};
}
/// The product of the pivots of Gaussian elimination.
double determinant(std::vector<double> a, std::int64_t n) {
  double result = 1;
  for (std::int64_t c = 0; c < n; ++c) {
    std::int64_t pivot = c;
    for (std::int64_t r = c + 1; r < n; ++r)
      if (std::fabs(a[r * n + c]) > std::fabs(a[pivot * n + c])) pivot = r;
    if (a[pivot * n + c] == 0) return 0;
    if (pivot != c) {
      std::swap_ranges(a.begin() + c * n, a.begin() + (c + 1) * n, a.begin() + pivot * n);
      result = -result;
    }
    result *= a[c * n + c];
    for (std::int64_t r = c + 1; r < n; ++r) {
      const double factor = a[r * n + c] / a[c * n + c];
      for (std::int64_t j = c; j < n; ++j) a[r * n + j] -= factor * a[c * n + j];
    }
  }
  return result;
}
void fill_determinant(const Call& call, Arrays& out) {
  const Array& x = call.known(0);
  const std::int64_t n = x.dims.back();
  for (std::size_t i = 0; i < out[0].values.size(); ++i) {
    const auto begin = x.values.begin() + static_cast<std::int64_t>(i) * n * n;
    out[0].values[i] = determinant({begin, begin + n * n}, n);
  }
}

/// An equation with its labels replaced by axis numbers: first those of the output, then those summed over.
struct Sum {
  std::size_t outputs = 0;
  Dims extents{};
  std::vector<Dims> strides{};  ///< of each input, along those axes
};

/// Labels of one operand, with the ellipsis written as digits: the last axis it covers is '0' whatever the rank.
std::string labels(std::string_view text, std::size_t covered) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (std::isalpha(static_cast<unsigned char>(text[i]))) {
      result += text[i];
    } else if (text.substr(i, 3) == "..." && result.find('0') == std::string::npos) {
      for (std::size_t n = covered; n-- > 0;) result += static_cast<char>('0' + n);
      i += 2;
    } else {
      fail("'{}' in an equation; letters and one '...' are valid", text);
    }
  }
  return result;
}

Sum parse_sum(const Call& call) {
  std::string equation = call.node.text("equation", "");
  std::erase(equation, ' ');
  const std::size_t arrow = equation.find("->");
  std::vector<std::string> operands{""};
  for (const char c : equation.substr(0, arrow))
    if (c == ',') operands.emplace_back();
    else operands.back() += c;
  if (operands.size() != call.in.size()) fail("equation '{}' for {} inputs", equation, call.in.size());
  std::map<char, std::int64_t> extents;
  std::map<char, int> uses;
  std::size_t widest = 0;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const std::size_t named = operands[i].size(), rank = call[i].dims.size();
    const bool open = operands[i].find("...") != std::string::npos;
    if (open ? rank + 3 < named || rank + 3 - named > 10 : rank != named)
      fail("'{}' does not fit input {}, which is {}", operands[i], i, dims_text(call[i].dims));
    const std::size_t covered = open ? rank + 3 - named : 0;
    widest = std::max(widest, covered);
    operands[i] = labels(operands[i], covered);
    for (std::size_t axis = 0; axis < operands[i].size(); ++axis) {
      const std::int64_t extent = call[i].dims[axis];
      std::int64_t& known = extents.emplace(operands[i][axis], extent).first->second;
      if (known != extent && known != 1 && extent != 1)
        fail("equation '{}': '{}' is both {} and {}", equation, operands[i][axis], known, extent);
      if (known == 1) known = extent;
      ++uses[operands[i][axis]];
    }
  }
  std::string order;
  if (arrow != std::string::npos) {
    order = labels(std::string_view(equation).substr(arrow + 2), widest);
  } else {
    for (std::size_t n = widest; n-- > 0;) order += static_cast<char>('0' + n);
    for (const auto& [label, count] : uses)
      if (std::isalpha(static_cast<unsigned char>(label)) && count == 1) order += label;
  }
  Sum sum{order.size()};
  for (const char label : order)
    if (!extents.contains(label) || std::count(order.begin(), order.end(), label) > 1)
      fail("equation '{}': the output has '{}' once too often", equation, label);
  for (const auto& [label, extent] : extents)
    if (order.find(label) == std::string::npos) order += label;
  for (const char label : order) sum.extents.push_back(extents.at(label));
  checked_count(sum.extents, "equation");
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Dims own = strides_of(call[i].dims);
    Dims strides(order.size());
    for (std::size_t axis = 0; axis < own.size(); ++axis)
      if (call[i].dims[axis] != 1) strides[order.find(operands[i][axis])] += own[axis];
    sum.strides.push_back(strides);
  }
  return sum;
}
Arrays infer_einsum(const Call& call) {
  const Sum sum = parse_sum(call);
  return {described(call[0].type, Dims(sum.extents.begin(), sum.extents.begin() + sum.outputs))};
}
void fill_einsum(const Call& call, Arrays& out) {
  const Sum sum = parse_sum(call);
  const Dims out_strides = strides_of(out[0].dims);
  for (std::size_t i = 0; i < call.in.size(); ++i) call.known(i);
  for_each_index(sum.extents, [&](const Dims& index) {
    double term = 1;
    for (std::size_t i = 0; i < call.in.size(); ++i) term *= call[i].values[offset(index, sum.strides[i])];
    std::int64_t to = 0;
    for (std::size_t axis = 0; axis < sum.outputs; ++axis) to += index[axis] * out_strides[axis];
    out[0].values[to] += term;
  });
}

}  // namespace

std::span<const Function> linear_functions() {
  static constexpr Function all[] = {
      function<infer_determinant, fill_determinant>("Det"),
      function<infer_einsum, fill_einsum>("Einsum"),
      function<infer_gemm, fill_gemm>("Gemm"),
      function<infer_matmul, fill_matmul>("MatMul"),
  };
  return all;
}

}  // namespace isobar::onnx
