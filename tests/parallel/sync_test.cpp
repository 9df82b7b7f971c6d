// sync on a model of one weight, by hand.
#include <cmath>

#include "tests/parallel/quadratic.hpp"

namespace isobar::parallel::trials {
namespace {

using Weights = std::vector<float>;

// The mean curvature is 2 at a rate of 1/4: every step halves the weight, and nothing is under way at the end.
TEST(KnownAnswer, sync) {
  EXPECT_EQ(descend({"sync", {{1}, {3}}}), (Weights{0.5f, 0.25f, 0.125f, 0.0625f, 0.0625f}));
  EXPECT_EQ(descend({"sync", {{1, 1, 4}, {}, {2}}}), (Weights{0.5f, 0.25f, 0.125f, 0.0625f, 0.0625f}))
      << "the mean over samples, not over ranks";
  EXPECT_EQ(descend({"sync", {{2}}, 0.5, 2}), (Weights{0, 0, 0}));
}

// Descent on a quadratic converges as long as rate times curvature is below 2.
TEST(KnownAnswer, sync_is_stable_below_two) {
  EXPECT_LT(std::abs(descend({"sync", {{1}, {3}}, 0.98, 500}).back()), 1e-3);
  EXPECT_GT(std::abs(descend({"sync", {{1}, {3}}, 1.02, 500}).back()), 1e3);
}

}  // namespace
}  // namespace isobar::parallel::trials
