// Naive references of operators on shapes and of those that broadcast, element by element, by coordinates.
#pragma once

#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "tests/ops/reference_base.hpp"

namespace isobar::reference {

using Coordinates = std::vector<std::int64_t>;

/// The coordinates of element i.
inline Coordinates coordinates(const Shape& shape, std::int64_t i) {
  Coordinates at(static_cast<std::size_t>(shape.rank()));
  for (std::size_t axis = at.size(); axis-- > 0; i /= shape[static_cast<int>(axis)])
    at[axis] = i % shape[static_cast<int>(axis)];
  return at;
}

/// The element at coordinates, aligned at the last axis; coordinates along an axis of 1 do not count.
inline std::int64_t element(const Shape& shape, const Coordinates& at) {
  std::int64_t number = 0;
  const std::size_t skipped = at.size() - static_cast<std::size_t>(shape.rank());
  for (int axis = 0; axis < shape.rank(); ++axis)
    number = number * shape[axis] + (shape[axis] == 1 ? 0 : at[skipped + static_cast<std::size_t>(axis)]);
  return number;
}

inline int axis_of(std::int64_t axis, const Shape& shape) {
  return static_cast<int>(axis < 0 ? axis + shape.rank() : axis);
}

inline Array broadcast(const Inputs& in, const std::function<double(double, double)>& f) {
  int rank = 0;
  for (const Array& a : in) rank = std::max(rank, a.shape.rank());
  std::vector<std::int64_t> extents(static_cast<std::size_t>(rank), 1);
  for (const Array& a : in)
    for (int axis = 1; axis <= a.shape.rank(); ++axis) {
      std::int64_t& e = extents[static_cast<std::size_t>(rank - axis)];
      e = std::max(e, a.shape[-axis]);
    }
  Array y{Shape(extents)};
  for (std::int64_t i = 0; i < y.shape.count(); ++i) {
    const Coordinates at = coordinates(y.shape, i);
    y[i] = in[0][element(in[0].shape, at)];
    for (std::size_t k = 1; k < in.size(); ++k) y[i] = f(y[i], in[k][element(in[k].shape, at)]);
  }
  return y;
}

inline Function broadcasting(double (*f)(double, double)) {
  return [f](Args&, const Inputs& in, const Context&) { return broadcast(in, f); };
}

inline Array reshape(Args& args, const Inputs& in, const Context&) {
  const Shape& x = in[0].shape;
  std::vector<std::int64_t> extents = args.integers("whole", {});
  if (extents.empty()) {
    extents = args.integers("shape", {-1});
    extents.insert(extents.begin(), x[0]);
  }
  std::int64_t known = 1;
  for (const std::int64_t e : extents) known *= e > 0 ? e : 1;
  for (std::int64_t& e : extents) e = e > 0 ? e : x.count() / known;
  return reshaped(in[0], Shape(extents));
}

inline Array transpose(Args& args, const Inputs& in, const Context&) {
  const Shape& x = in[0].shape;
  Coordinates order = args.integers("order", {});
  if (order.empty()) {
    order.resize(static_cast<std::size_t>(x.rank()));
    std::iota(order.begin(), order.end(), 0);
    std::swap(order.back(), order[order.size() - 2]);
  }
  Coordinates extents;
  for (const std::int64_t axis : order) extents.push_back(x[static_cast<int>(axis)]);
  Array y{Shape(extents)};
  for (std::int64_t i = 0; i < y.shape.count(); ++i) {
    const Coordinates at = coordinates(y.shape, i);
    Coordinates from(at.size());
    for (std::size_t a = 0; a < at.size(); ++a) from[static_cast<std::size_t>(axis_of(order[a], x))] = at[a];
    y[i] = in[0][element(x, from)];
  }
  return y;
}

inline Array slice(Args& args, const Inputs& in, const Context&) {
  const Coordinates axes = args.integers("axes", {0}), begin = args.integers("begin", {0});
  const Coordinates end = args.integers("end", {}), step = args.integers("step", Coordinates(axes.size(), 1));
  Array x = in[0];
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const int axis = axis_of(axes[k], x.shape);
    const std::int64_t n = x.shape[axis];
    Coordinates taken;  // goes through the whole axis in the direction of step, keeps what is between
    std::int64_t first = begin[k] < 0 ? begin[k] + n : begin[k];
    const std::int64_t last = end[k] < 0 ? end[k] + n : end[k];
    if (step[k] > 0) first = std::max<std::int64_t>(first, 0);
    if (step[k] < 0) first = std::min(first, n - 1);
    for (std::int64_t i = first; i >= 0 && i < n && (step[k] > 0 ? i < last : i > last); i += step[k])
      taken.push_back(i);
    Shape shape = x.shape;
    shape[axis] = static_cast<std::int64_t>(taken.size());
    Array y(shape);
    for (std::int64_t i = 0; i < shape.count(); ++i) {
      Coordinates at = coordinates(shape, i);
      at[static_cast<std::size_t>(axis)] = taken[static_cast<std::size_t>(at[static_cast<std::size_t>(axis)])];
      y[i] = x[element(x.shape, at)];
    }
    x = y;
  }
  return x;
}

inline Array pad(Args& args, const Inputs& in, const Context&) {
  const Array& x = in[0];
  const Coordinates before = args.integers("before", {}), after = args.integers("after", before);
  const std::string mode = args.text("mode", "constant");
  Shape shape = x.shape;
  for (int a = 0; a < shape.rank(); ++a)
    shape[a] += before[static_cast<std::size_t>(a)] + after[static_cast<std::size_t>(a)];
  Array y(shape);
  for (std::int64_t i = 0; i < shape.count(); ++i) {
    Coordinates at = coordinates(shape, i);
    bool inside = true;
    for (int a = 0; a < shape.rank(); ++a) {
      std::int64_t& c = at[static_cast<std::size_t>(a)];
      c -= before[static_cast<std::size_t>(a)];
      inside = inside && c >= 0 && c < x.shape[a];
      while (mode == "reflect" && (c < 0 || c >= x.shape[a])) c = c < 0 ? -c : 2 * (x.shape[a] - 1) - c;
      if (mode == "edge") c = std::clamp<std::int64_t>(c, 0, x.shape[a] - 1);
    }
    y[i] = inside || mode != "constant" ? x[element(x.shape, at)] : args.real("value", 0);
  }
  return y;
}

inline double folded(const std::string& kind, const std::vector<double>& x) {
  const auto sum = [&](double (*f)(double)) {
    double total = 0;
    for (const double v : x) total += f(v);
    return total;
  };
  const auto as_is = [](double v) { return v; };
  const auto squared = [](double v) { return v * v; };
  if (kind == "sum") return sum(as_is);
  if (kind == "mean") return sum(as_is) / static_cast<double>(x.size());
  if (kind == "log_sum") return std::log(sum(as_is));
  if (kind == "l1") return sum([](double v) { return std::abs(v); });
  if (kind == "sum_square") return sum(squared);
  if (kind == "l2") return std::sqrt(sum(squared));
  if (kind == "log_sum_exp") return std::log(sum([](double v) { return std::exp(v); }));
  if (kind == "max") return *std::max_element(x.begin(), x.end());
  if (kind == "min") return *std::min_element(x.begin(), x.end());
  return std::accumulate(x.begin(), x.end(), 1.0, std::multiplies<>());
}

inline Array reduce(Args& args, const Inputs& in, const Context&) {
  const Array& x = in[0];
  Coordinates axes(static_cast<std::size_t>(x.shape.rank() - 1));
  std::iota(axes.begin(), axes.end(), 1);
  Shape kept = x.shape;
  for (const std::int64_t axis : args.integers("axes", axes)) kept[axis_of(axis, x.shape)] = 1;
  std::vector<std::vector<double>> groups(static_cast<std::size_t>(kept.count()));
  for (std::int64_t i = 0; i < x.shape.count(); ++i)
    groups[static_cast<std::size_t>(element(kept, coordinates(x.shape, i)))].push_back(x[i]);
  Coordinates extents;
  for (int a = 0; a < kept.rank(); ++a)
    if (kept[a] == x.shape[a] || args.flag("keep", false)) extents.push_back(kept[a]);
  Array y{Shape(extents)};
  for (std::size_t g = 0; g < groups.size(); ++g) y.values[g] = folded(args.text("kind", "sum"), groups[g]);
  return y;
}

inline Array gather(Args& args, const Inputs& in, const Context&) {
  const Array &x = in[0], &numbers = in[1];
  const int axis = axis_of(args.integer("axis", 0), x.shape);
  Coordinates extents(x.shape.extents().begin(), x.shape.extents().begin() + axis);
  extents.insert(extents.end(), numbers.shape.extents().begin(), numbers.shape.extents().end());
  extents.insert(extents.end(), x.shape.extents().begin() + axis + 1, x.shape.extents().end());
  Array y{Shape(extents)};
  for (std::int64_t i = 0; i < y.shape.count(); ++i) {
    const Coordinates at = coordinates(y.shape, i);
    const auto behind = at.begin() + axis + numbers.shape.rank();
    auto row = static_cast<std::int64_t>(numbers[element(numbers.shape, Coordinates(at.begin() + axis, behind))]);
    if (row < 0) row += x.shape[axis];
    Coordinates from(at.begin(), at.begin() + axis);
    from.push_back(row);
    from.insert(from.end(), behind, at.end());
    y[i] = x[element(x.shape, from)];
  }
  return y;
}

// Several outputs, concatenated into one row of all their numbers.
inline Array split(Args& args, const Inputs& in, const Context&) {
  const Array& x = in[0];
  const int axis = axis_of(args.integer("axis", -1), x.shape);
  const std::int64_t parts = args.integer("parts", 2);
  const Coordinates sizes = args.integers("sizes", Coordinates(static_cast<std::size_t>(parts), x.shape[axis] / parts));
  if (sizes.size() == 1) return x;
  Array y({1, x.shape.count()});
  std::int64_t begin = 0, at = 0;
  for (const std::int64_t size : sizes) {
    for (std::int64_t i = 0; i < x.shape.count(); ++i) {
      const std::int64_t along = coordinates(x.shape, i)[static_cast<std::size_t>(axis)];
      if (along >= begin && along < begin + size) y[at++] = x[i];
    }
    begin += size;
  }
  return y;
}

// Every element of the shape with many positions has its place among the channels of the other shape.
inline Array shuffle_blocks(Args& args, const Array& x, bool to_depth) {
  const std::int64_t block = args.integer("block", 2);
  const bool depth_first = args.text("mode", "dcr") == "dcr";
  const int space = x.shape.rank() - 2;
  Shape wide = x.shape, deep = x.shape;
  std::int64_t volume = 1;
  for (int a = 1; a <= space; ++a) {
    volume *= block;
    (to_depth ? deep[a] /= block : wide[a] *= block);
  }
  (to_depth ? deep[-1] *= volume : wide[-1] /= volume);
  Array y(to_depth ? deep : wide);
  for (std::int64_t i = 0; i < wide.count(); ++i) {
    Coordinates at = coordinates(wide, i);
    std::int64_t inside = 0;
    for (std::size_t a = 1; a <= static_cast<std::size_t>(space); ++a) {
      inside = inside * block + at[a] % block;
      at[a] /= block;
    }
    at.back() = depth_first ? inside * wide[-1] + at.back() : at.back() * volume + inside;
    const std::int64_t j = element(deep, at);
    (to_depth ? y[j] = x[i] : y[i] = x[j]);
  }
  return y;
}

inline References shape_references() {
  return {
      {"add", broadcasting([](double a, double b) { return a + b; })},
      {"depth_to_space",
       [](Args& args, const Inputs& in, const Context&) { return shuffle_blocks(args, in[0], false); }},
      {"div", broadcasting([](double a, double b) { return a / b; })},
      {"embedding",
       [](Args&, const Inputs& in, const Context& context) {
         Args rows{Spec("gather")};
         return gather(rows, {in[1], in[0]}, context);
       }},
      {"expand",
       [](Args& args, const Inputs& in, const Context&) {
         return broadcast({in[0], Array(Shape(args.integers("shape", {})))}, [](double a, double b) { return a + b; });
       }},
      {"gather", gather},
      {"maximum", broadcasting([](double a, double b) { return std::max(a, b); })},
      {"minimum", broadcasting([](double a, double b) { return std::min(a, b); })},
      {"mul", broadcasting([](double a, double b) { return a * b; })},
      {"pad", pad},
      {"reduce", reduce},
      {"reshape", reshape},
      {"slice", slice},
      {"space_to_depth",
       [](Args& args, const Inputs& in, const Context&) { return shuffle_blocks(args, in[0], true); }},
      {"split", split},
      {"sub", broadcasting([](double a, double b) { return a - b; })},
      {"transpose", transpose},
  };
}

}  // namespace isobar::reference
