// Order and search along axes: ArgMax, ArgMin, TopK, CumSum, NonZero, Unique. How many elements NonZero and Unique
// return depends on the numbers.
#include <algorithm>
#include <compare>
#include <map>
#include <numeric>

#include "isobar/onnx/functions.hpp"

namespace isobar::onnx {
namespace {

Arrays infer_arg(const Call& call) {
  Dims dims = call[0].dims;
  const int axis = checked_axis(call.node.integer("axis", 0), call[0].rank());
  if (dims[axis] == 0) fail("axis {} of {} has no element to find", axis, dims_text(dims));
  if (call.node.integer("keepdims", 1) != 0) dims[axis] = 1;
  else dims.erase(dims.begin() + axis);
  return {described(Type::int64, dims)};
}
template <bool largest>
void fill_arg(const Call& call, Arrays& out) {
  const Array& x = call.known(0);
  const Around form = around(x.dims, checked_axis(call.node.integer("axis", 0), x.rank()));
  const bool last = call.node.integer("select_last_index", 0) != 0;
  for (std::int64_t o = 0; o < form.outer; ++o)
    for (std::int64_t i = 0; i < form.inner; ++i) {
      const double* row = x.values.data() + o * form.extent * form.inner + i;
      std::int64_t best = 0;
      for (std::int64_t n = 1; n < form.extent; ++n) {
        const double value = row[n * form.inner], old = row[best * form.inner];
        if ((largest ? value > old : value < old) || (last && value == old)) best = n;
      }
      out[0].values[o * form.inner + i] = static_cast<double>(best);
    }
}

Arrays infer_top(const Call& call) {
  const auto k = call.integers("k", 1);
  const int axis = checked_axis(call.node.integer("axis", -1), call[0].rank());
  Dims dims = call[0].dims;
  if (!k || k->size() != 1 || k->front() < 0 || k->front() > dims[axis])
    fail("the first {} of axis {} of {}", k && !k->empty() ? k->front() : -1, axis, dims_text(dims));
  dims[axis] = k->front();
  return {described(call[0].type, dims), described(Type::int64, dims)};
}
void fill_top(const Call& call, Arrays& out) {
  const Array& x = call.known(0);
  const int axis = checked_axis(call.node.integer("axis", -1), x.rank());
  const bool largest = call.node.integer("largest", 1) != 0;
  const Around form = around(x.dims, axis);
  const std::int64_t k = out[0].dims[axis];
  if (x.values.empty()) return;
  std::vector<std::int64_t> order(form.extent);
  for (std::int64_t o = 0; o < form.outer; ++o)
    for (std::int64_t i = 0; i < form.inner; ++i) {
      const double* row = x.values.data() + o * form.extent * form.inner + i;
      std::iota(order.begin(), order.end(), 0);
      // Equal numbers keep their order; NaNs come last.
      std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
        const double left = row[a * form.inner], right = row[b * form.inner];
        if (left != left || right != right) return left == left && right != right;
        return largest ? left > right : left < right;
      });
      for (std::int64_t n = 0; n < k; ++n) {
        const std::int64_t to = (o * k + n) * form.inner + i;
        out[0].values[to] = row[order[n] * form.inner];
        out[1].values[to] = static_cast<double>(order[n]);
      }
    }
}

void fill_cumulated(const Call& call, Arrays& out) {
  const Array& x = call.known(0);
  const Around form = around(x.dims, checked_axis(whole(scalar(call, 1)), x.rank()));
  const bool exclusive = call.node.integer("exclusive", 0) != 0, reverse = call.node.integer("reverse", 0) != 0;
  for (std::int64_t o = 0; o < form.outer; ++o)
    for (std::int64_t i = 0; i < form.inner; ++i) {
      double sum = 0;
      for (std::int64_t n = 0; n < form.extent; ++n) {
        const std::int64_t at = (o * form.extent + (reverse ? form.extent - 1 - n : n)) * form.inner + i;
        out[0].values[at] = exclusive ? sum : sum + x.values[at];
        sum += x.values[at];
      }
    }
}

Arrays infer_nonzero(const Call& call) {
  const Array& x = call.known(0);
  const auto zero_count = std::count(x.values.begin(), x.values.end(), 0.0);
  return {described(Type::int64, {x.rank(), std::ssize(x.values) - zero_count})};
}
void fill_nonzero(const Call& call, Arrays& out) {
  const Array& x = call.known(0);
  const std::int64_t found = out[0].dims[1];
  std::int64_t i = 0, n = 0;
  for_each_index(x.dims, [&](const Dims& index) {
    if (x.values[i++] == 0) return;
    for (std::size_t axis = 0; axis < index.size(); ++axis)
      out[0].values[static_cast<std::int64_t>(axis) * found + n] = static_cast<double>(index[axis]);
    ++n;
  });
}

/// The distinct slices along an axis (or numbers, without an axis), each with its first position and its count.
struct Distinct {
  Around form;
  std::vector<std::int64_t> first, inverse, counts;
};
std::vector<double> slice(const Array& x, const Around& form, std::int64_t n) {
  std::vector<double> result;
  for (std::int64_t o = 0; o < form.outer; ++o) {
    const auto begin = x.values.begin() + (o * form.extent + n) * form.inner;
    result.insert(result.end(), begin, begin + form.inner);
  }
  return result;
}
Distinct distinct(const Call& call) {
  const Array& x = call.known(0);
  const bool flat = !call.node.has("axis");
  Distinct result{flat ? Around{1, x.count(), 1} : around(x.dims, checked_axis(call.node.integer("axis", 0), x.rank())),
                  {},
                  {},
                  {}};
  if (x.values.empty() && result.form.extent > 0) fail("{} has no elements to tell apart", dims_text(x.dims));
  // A total order: NaN must have a place, too.
  const auto before = [](const std::vector<double>& a, const std::vector<double>& b) {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(),
                                        [](double l, double r) { return std::weak_order(l, r) < 0; });
  };
  std::map<std::vector<double>, std::int64_t, decltype(before)> places(before);
  for (std::int64_t n = 0; n < result.form.extent; ++n) {
    const auto [found, is_new] = places.emplace(slice(x, result.form, n), std::ssize(result.first));
    if (is_new) {
      result.first.push_back(n);
      result.counts.push_back(0);
    }
    result.inverse.push_back(found->second);
    ++result.counts[found->second];
  }
  if (call.node.integer("sorted", 1) == 0) return result;
  std::vector<std::int64_t> rank(result.first.size()), first, counts;
  for (const auto& [key, place] : places) {
    rank[place] = std::ssize(first);
    first.push_back(result.first[place]);
    counts.push_back(result.counts[place]);
  }
  for (std::int64_t& place : result.inverse) place = rank[place];
  result.first = first;
  result.counts = counts;
  return result;
}
Arrays infer_unique(const Call& call) {
  const Distinct found = distinct(call);
  const auto count = std::ssize(found.first);
  Dims dims{count};
  if (call.node.has("axis")) {
    dims = call[0].dims;
    dims[checked_axis(call.node.integer("axis", 0), call[0].rank())] = count;
  }
  return {described(call[0].type, dims), described(Type::int64, {count}), described(Type::int64, {found.form.extent}),
          described(Type::int64, {count})};
}
void fill_unique(const Call& call, Arrays& out) {
  const Array& x = call.known(0);
  const Distinct found = distinct(call);
  const auto count = std::ssize(found.first);
  for (std::int64_t n = 0; n < count; ++n)
    for (std::int64_t o = 0; o < found.form.outer; ++o)
      std::copy_n(x.values.begin() + (o * found.form.extent + found.first[n]) * found.form.inner, found.form.inner,
                  out[0].values.begin() + (o * count + n) * found.form.inner);
  out[1].values.assign(found.first.begin(), found.first.end());
  out[2].values.assign(found.inverse.begin(), found.inverse.end());
  out[3].values.assign(found.counts.begin(), found.counts.end());
}

}  // namespace

std::span<const Function> search_functions() {
  static constexpr Function all[] = {
      function<infer_arg, fill_arg<true>>("ArgMax"),  function<infer_arg, fill_arg<false>>("ArgMin"),
      function<infer_same, fill_cumulated>("CumSum"), function<infer_nonzero, fill_nonzero>("NonZero"),
      function<infer_top, fill_top>("TopK"),          function<infer_unique, fill_unique>("Unique"),
  };
  return all;
}

}  // namespace isobar::onnx
