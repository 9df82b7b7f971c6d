// The basis of the naive references: arrays of doubles, and a table from an operator's name to its function.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "isobar/base/spec.hpp"
#include "isobar/tensor/shape.hpp"

namespace isobar::reference {

/// Row-major numbers with a shape.
struct Array {
  Shape shape;
  std::vector<double> values;

  explicit Array(Shape s = {}, double value = 0)
      : shape(std::move(s)), values(static_cast<std::size_t>(shape.count()), value) {}
  double& operator[](std::int64_t i) { return values[static_cast<std::size_t>(i)]; }
  double operator[](std::int64_t i) const { return values[static_cast<std::size_t>(i)]; }
};

/// What random operators and losses need to know.
struct Context {
  std::uint64_t seed = 0, site = 0;
  std::int64_t epoch = 0;
  std::vector<std::int64_t> samples{};
  std::int64_t rows = 0;
  double total = 1;
  bool training = true;
};

using Inputs = std::vector<Array>;
using Function = std::function<Array(Args& args, const Inputs& in, const Context& context)>;
/// By the operator's name in the catalogue.
using References = std::map<std::string, Function>;

inline Array mapped(const Array& x, const std::function<double(double)>& f) {
  Array y(x.shape);
  std::transform(x.values.begin(), x.values.end(), y.values.begin(), f);
  return y;
}

inline Array reshaped(const Array& x, Shape shape) {
  Array y(std::move(shape));
  y.values = x.values;
  return y;
}

}  // namespace isobar::reference
