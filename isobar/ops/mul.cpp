// mul: the product of two inputs, with broadcasting.
//   y = a * b;  da = dy * b, db = dy * a, summed over the axes along which the input was repeated
#include "isobar/ops/binary.hpp"

namespace isobar::ops {
namespace {

struct Product {
  static constexpr SlopeReads reads_a{false, true}, reads_b{true, false};
  static float value(float a, float b) { return a * b; }
  static float slope_a(float, float b) { return b; }
  static float slope_b(float a, float) { return a; }
};

}  // namespace

extern const OperatorRow mul;
const OperatorRow mul{"mul", "the product of two inputs, with broadcasting", make_binary<Product>, [] {
                        return std::vector<Problem>{{"mul", {{2, 3, 5}, {2, 3, 5}}},
                                                    {"mul", {{2, 3, 3, 70}, {70}}},
                                                    {"mul", {{3, 4}, {1}}},
                                                    {"mul", {{2, 3, 5, 1}, {2, 3, 5, 7}}},
                                                    {"mul", {{4, 1, 3, 1, 2}, {2, 1, 5, 1}}},
                                                    {"mul", {{30, 40, 40}, {40, 1}}}};
                      }};

}  // namespace isobar::ops
