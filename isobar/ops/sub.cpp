// sub: the difference of two inputs, with broadcasting.
//   y = a - b;  da = dy, db = -dy, summed over the axes along which the input was repeated
#include "isobar/ops/binary.hpp"

namespace isobar::ops {
namespace {

struct Difference {
  static constexpr SlopeReads reads_a{false, false}, reads_b{false, false};
  static float value(float a, float b) { return a - b; }
  static float slope_a(float, float) { return 1; }
  static float slope_b(float, float) { return -1; }
};

}  // namespace

extern const OperatorRow sub;
const OperatorRow sub{"sub", "the difference of two inputs, with broadcasting", make_binary<Difference>, [] {
                        return std::vector<Problem>{{"sub", {{2, 3, 5}, {2, 3, 5}}},
                                                    {"sub", {{2, 3, 5}, {5}}},
                                                    {"sub", {{2, 1, 5}, {2, 3, 1}}}};
                      }};

}  // namespace isobar::ops
