// Pools: MaxPool with the positions of the maxima, AveragePool, LpPool, their global forms, and MaxUnpool.
#include <algorithm>
#include <cmath>
#include <limits>

#include "isobar/onnx/window_attributes.hpp"

namespace isobar::onnx {
namespace {

Dims pooled_dims(const Call& call, const Dims& out) {
  Dims dims{call[0].dims[0], call[0].dims[1]};
  dims.insert(dims.end(), out.begin(), out.end());
  return dims;
}
WindowAttributes pool_window(const Call& call) { return window(call, call[0].dims, std::nullopt); }

Arrays infer_pool(const Call& call) { return {described(call[0].type, pooled_dims(call, pool_window(call).out))}; }
Arrays infer_max_pool(const Call& call) {
  const Dims dims = pooled_dims(call, pool_window(call).out);
  return {described(call[0].type, dims), described(Type::int64, dims)};
}

/// The same position in column-major order, where the first spatial axis varies fastest.
std::int64_t column_major(std::int64_t at, const Dims& dims) {
  std::int64_t result = 0;
  for (std::size_t i = dims.size(); i-- > 0;) {
    result += at % dims[i] * product(std::span<const std::int64_t>(dims).first(i));
    at /= dims[i];
  }
  return result;
}

void fill_max_pool(const Call& call, Arrays& out) {
  const Array& x = call.known(0);
  const WindowAttributes w = pool_window(call);
  const bool columns = call.node.integer("storage_order", 0) != 0;
  const std::int64_t planes = x.dims[0] * x.dims[1], in_size = product(w.in), out_size = product(w.out);
  std::int64_t p = 0;
  for_each_index(w.out, [&](const Dims& position) {
    std::vector<std::int64_t> covered;
    w.cover(position, [&](std::int64_t at, std::int64_t) { covered.push_back(at); });
    for (std::int64_t plane = 0; plane < planes; ++plane) {
      const double* from = x.values.data() + plane * in_size;
      double best = -std::numeric_limits<double>::infinity();
      std::int64_t place = covered.empty() ? 0 : covered[0];
      for (const std::int64_t at : covered)
        if (from[at] > best) {
          best = from[at];
          place = at;
        }
      out[0].values[plane * out_size + p] = best;
      out[1].values[plane * out_size + p] =
          static_cast<double>(plane * in_size + (columns ? column_major(place, w.in) : place));
    }
    ++p;
  });
}

/// Sums term(x) over each window and passes the sum and the position to `end`.
template <class Term, class End>
void pool(const Call& call, Arrays& out, Term term, End end) {
  const Array& x = call.known(0);
  const WindowAttributes w = pool_window(call);
  const std::int64_t planes = x.dims[0] * x.dims[1], in_size = product(w.in), out_size = product(w.out);
  std::int64_t p = 0;
  for_each_index(w.out, [&](const Dims& position) {
    std::vector<std::int64_t> covered;
    w.cover(position, [&](std::int64_t at, std::int64_t) { covered.push_back(at); });
    for (std::int64_t plane = 0; plane < planes; ++plane) {
      double sum = 0;
      for (const std::int64_t at : covered) sum += term(x.values[plane * in_size + at]);
      out[0].values[plane * out_size + p] = end(sum, covered.size(), w, position);
    }
    ++p;
  });
}

void fill_average_pool(const Call& call, Arrays& out) {
  const bool with_pads = call.node.integer("count_include_pad", 0) != 0;
  pool(
      call, out, [](double x) { return x; },
      [with_pads](double sum, std::size_t covered, const WindowAttributes& w, const Dims& position) {
        double count = static_cast<double>(covered);
        if (with_pads) {
          count = 1;
          // What ceil_mode adds after the pads is not part of the window.
          for (std::size_t i = 0; i < position.size(); ++i) {
            const std::int64_t end = w.in[i] + w.before[i] + w.after[i] - position[i] * w.stride[i];
            count *= static_cast<double>(std::min(w.kernel[i], (end + w.dilation[i] - 1) / w.dilation[i]));
          }
        }
        return count > 0 ? sum / count : 0;
      });
}

double norm_order(const Call& call) {
  const auto p = static_cast<double>(call.node.integer("p", 2));
  if (p < 1) fail("a norm of order {}; at least 1 is valid", p);
  return p;
}
void fill_lp_pool(const Call& call, Arrays& out) {
  const double p = norm_order(call);
  pool(
      call, out, [p](double x) { return std::pow(std::fabs(x), p); },
      [p](double sum, std::size_t, const WindowAttributes&, const Dims&) { return std::pow(sum, 1 / p); });
}

Arrays infer_global(const Call& call) {
  const Dims in = spatial(call[0].dims);
  if (std::find(in.begin(), in.end(), 0) != in.end()) fail("{} has nothing to pool", dims_text(call[0].dims));
  return {described(call[0].type, pooled_dims(call, Dims(in.size(), 1)))};
}
/// Calls f(begin, end) for the numbers of every channel of every sample.
template <class F>
void pool_globally(const Call& call, Arrays& out, F f) {
  const Array& x = call.known(0);
  const std::int64_t size = product(spatial(x.dims));
  for (std::size_t i = 0; i < out[0].values.size(); ++i) {
    const auto begin = x.values.begin() + static_cast<std::int64_t>(i) * size;
    out[0].values[i] = f(begin, begin + size);
  }
}
void fill_global_average(const Call& call, Arrays& out) {
  pool_globally(call, out, [](auto begin, auto end) {
    double sum = 0;
    for (auto x = begin; x != end; ++x) sum += *x;
    return sum / static_cast<double>(end - begin);
  });
}
void fill_global_max(const Call& call, Arrays& out) {
  pool_globally(call, out, [](auto begin, auto end) { return *std::max_element(begin, end); });
}
void fill_global_lp(const Call& call, Arrays& out) {
  pool_globally(call, out, [p = norm_order(call)](auto begin, auto end) {
    double sum = 0;
    for (auto x = begin; x != end; ++x) sum += std::pow(std::fabs(*x), p);
    return std::pow(sum, 1 / p);
  });
}

/// The dims of MaxPool's input if no output_shape is given; positions are counted in these.
Dims unpooled_dims(const Call& call) {
  const Dims in = spatial(call[0].dims);
  expect_dims(call, 1, call[0].dims);
  const Dims kernel = window_attribute(call.node, "kernel_shape", in.size(), 1);
  const Dims stride = window_attribute(call.node, "strides", in.size(), 1);
  const Dims pads = window_attribute(call.node, "pads", 2 * in.size(), 0);
  Dims out;
  for (std::size_t i = 0; i < in.size(); ++i)
    out.push_back((in[i] - 1) * stride[i] - pads[i] - pads[in.size() + i] + kernel[i]);
  Dims dims = pooled_dims(call, out);
  checked_count(dims, "output");
  return dims;
}
Arrays infer_unpool(const Call& call) {
  Dims dims = unpooled_dims(call);
  if (const auto wanted = call.integers("output_shape", 2)) {
    if (wanted->size() != dims.size()) fail("output_shape has {} entries for {} axes", wanted->size(), dims.size());
    for (std::size_t i = 0; i < dims.size(); ++i)
      if ((*wanted)[i] < dims[i]) fail("output_shape {} is smaller than {}", dims_text(*wanted), dims_text(dims));
    dims = *wanted;
  }
  return {described(call[0].type, dims)};
}
void fill_unpool(const Call& call, Arrays& out) {
  const Array &x = call.known(0), &places = call.known(1);
  const Dims dims = unpooled_dims(call), from = strides_of(dims), to = strides_of(out[0].dims);
  const std::int64_t count = product(dims);
  for (std::size_t i = 0; i < x.values.size(); ++i) {
    std::int64_t rest = checked_index(places.values[i], count), at = 0;
    for (std::size_t axis = 0; axis < dims.size(); ++axis) {
      at += rest / from[axis] * to[axis];
      rest %= from[axis];
    }
    out[0].values[at] = x.values[i];
  }
}

}  // namespace

std::span<const Function> pool_functions() {
  static constexpr Function all[] = {
      function<infer_pool, fill_average_pool>("AveragePool"),
      function<infer_global, fill_global_average>("GlobalAveragePool"),
      function<infer_global, fill_global_lp>("GlobalLpPool"),
      function<infer_global, fill_global_max>("GlobalMaxPool"),
      function<infer_pool, fill_lp_pool>("LpPool"),
      function<infer_max_pool, fill_max_pool>("MaxPool"),
      function<infer_unpool, fill_unpool>("MaxUnpool"),
  };
  return all;
}

}  // namespace isobar::onnx
