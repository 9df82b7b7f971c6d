#include "isobar/bench/kernel_profile.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace isobar::bench {
namespace {

TEST(Profile, HoldsEveryKernelOfAStepWithItsWork) {
  TrainingStep step("cosmoflow(size=16, width=4, layers=2)", 2, steady_optimizer);
  const std::vector<MeasuredKernel> profile = profile_steps(step, 3);
  double flops = 0, seconds = 0;
  bool library = false, own = false, update = false;
  for (std::size_t i = 0; i < profile.size(); ++i) {
    EXPECT_GE(profile[i > 0 ? i - 1 : 0].seconds, profile[i].seconds) << "the longest first";
    if (profile[i].category != "optimizer") flops += profile[i].flops;
    seconds += profile[i].seconds;
    library |= profile[i].library;
    own |= !profile[i].library;
    update |= profile[i].category == "optimizer";
  }
  EXPECT_NEAR(flops, step.executor().plan().flops(), 1e-6 * flops);
  EXPECT_GT(seconds, 0);
  EXPECT_TRUE(library && own && update);
  const auto conv = std::find_if(profile.begin(), profile.end(),
                                 [](const MeasuredKernel& k) { return k.name.starts_with("conv1") && k.flops > 0; });
  ASSERT_NE(conv, profile.end());
  EXPECT_FALSE(conv->shape.empty());
}

TEST(Profile, ReadsBackWhatItWrites) {
  const std::vector<MeasuredKernel> profile{{"conv1 forward", "forward convolution", "1x8x8x4", 0.01, 5e8, 1e6, true},
                                            {"idle", "idle", "", 0.001, 0, 0, false}};
  const std::string line = profile_line(profile);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const std::vector<MeasuredKernel> back = parse_profile(line);
  ASSERT_EQ(back.size(), 2u);
  EXPECT_EQ(back[0].name, "conv1 forward");
  EXPECT_EQ(back[0].seconds, 0.01);
  EXPECT_TRUE(back[0].library);
  EXPECT_EQ(back[1].category, "idle");
}

}  // namespace
}  // namespace isobar::bench
