// maximum: the larger of two inputs, with broadcasting.
//   y = max(a, b);  dy goes to the larger input, half to each if they are equal, summed over repeated axes
#include "isobar/ops/binary.hpp"

namespace isobar::ops {
namespace {

struct Larger {
  static constexpr SlopeReads reads_a{true, true}, reads_b{true, true};
  static float value(float a, float b) { return a > b ? a : b; }
  static float slope_a(float a, float b) { return a == b ? 0.5f : static_cast<float>(a > b); }
  static float slope_b(float a, float b) { return slope_a(b, a); }
};

}  // namespace

extern const OperatorRow maximum;
const OperatorRow maximum{"maximum", "the larger of two inputs, with broadcasting", make_binary<Larger>, [] {
                            return std::vector<Problem>{{"maximum", {{2, 3, 5}, {2, 3, 5}}},
                                                        {"maximum", {{4, 7}, {4, 1}}},
                                                        {"maximum", {{1}, {5, 6}}}};
                          }};

}  // namespace isobar::ops
