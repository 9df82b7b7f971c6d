// Shared by the climate networks: the weights of the published loss, and sizes they can halve.
#include "isobar/zoo/segmentation.hpp"

#include <gtest/gtest.h>

#include "isobar/base/error.hpp"

namespace isobar::zoo {
namespace {

TEST(Segmentation, LossHasThePublishedWeights) {
  Args args(exascale_loss(3), "loss");
  const std::vector<double> weights = args.reals("weights", {});
  ASSERT_EQ(weights.size(), 3u);
  EXPECT_NEAR(weights[0], 0.021797, 1e-6);
  EXPECT_NEAR(weights[1], 0.812046, 1e-6);
  EXPECT_NEAR(weights[2], 0.166157, 1e-6);
  EXPECT_EQ(args.text("reduction", ""), "sum");
  EXPECT_EQ(args.real("scale", 1), 0.1);
}

TEST(Segmentation, SizesMustBeMultiplesOfTheStep) {
  const Args args{Spec("network")};
  EXPECT_NO_THROW(require_steps(args, 32, 48, 16));
  EXPECT_THROW(require_steps(args, 32, 40, 16), UsageError);
  EXPECT_THROW(require_steps(args, 0, 48, 16), UsageError);
}

}  // namespace
}  // namespace isobar::zoo
