// div: the quotient of two inputs, with broadcasting.
//   y = a / b;  da = dy / b, db = -dy * a / b^2, summed over the axes along which the input was repeated
#include "isobar/ops/binary.hpp"

namespace isobar::ops {
namespace {

struct Quotient {
  static constexpr SlopeReads reads_a{false, true}, reads_b{true, true};
  static float value(float a, float b) { return a / b; }
  static float slope_a(float, float b) { return 1 / b; }
  static float slope_b(float a, float b) { return -a / b / b; }
};

}  // namespace

extern const OperatorRow div;
const OperatorRow div{"div", "the quotient of two inputs, with broadcasting", make_binary<Quotient>, [] {
                        return std::vector<Problem>{{"div", {{2, 3, 5}, {2, 3, 5}}, 0.5, 2},
                                                    {"div", {{2, 3, 5}, {3, 1}}, 0.5, 2},
                                                    {"div", {{1, 5}, {4, 2, 1}}, -3, -1}};
                      }};

}  // namespace isobar::ops
