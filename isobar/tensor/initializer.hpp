// Initialisers: the starting values of weights. Element i is a pure function of (spec, shape, seed, i).
// The fans follow from the shape [out, in, kernel...] of a weight: fan_in = in * |kernel|, fan_out = out * |kernel|.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "isobar/base/row.hpp"
#include "isobar/tensor/shape.hpp"

namespace isobar {

struct Fans {
  double in = 1, out = 1;
};

/// The fans of a weight of this shape; for a vector they are 1 and its length.
Fans fans(const Shape& shape);

/// A distribution with a centre, and a width that may depend on the fans.
struct Initializer {
  enum class Law {
    uniform,    ///< in (centre - width, centre + width)
    normal,     ///< standard deviation `width`
    truncated,  ///< normal, drawn again until within two standard deviations
  } law;
  double centre = 0;
  std::function<double(const Fans&)> width;
};

Table<Row<Initializer>> initializers();

/// Fills `out`, the plain row-major numbers of a weight of this shape; if `counted` is given, the fans follow from it
/// instead.
void initialize(const Spec& spec, const Shape& shape, std::uint64_t seed, std::span<float> out,
                const Shape& counted = {});

}  // namespace isobar
