#include "isobar/bench/made_inputs.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "isobar/bench/forward_pass.hpp"
#include "isobar/bench/training_step.hpp"
#include "isobar/zoo/network.hpp"

#include "tests/zoo/shrunken.hpp"

namespace isobar::bench {
namespace {

class MadeInputs : public testing::TestWithParam<zoo::Shrunken> {};

// Every step checks that loss and gradients are finite, and losses that targets are valid.
TEST_P(MadeInputs, AreWhatANetworkCanBeTrainedOn) {
  TrainingStep step(GetParam().spec, zoo::shrunken_batch, steady_optimizer);
  for (int i = 0; i < 3; ++i) EXPECT_GE(step.run(), 0);
  EXPECT_GE(ForwardPass(GetParam().spec, zoo::shrunken_batch).run(), 0);
}

INSTANTIATE_TEST_SUITE_P(Zoo, MadeInputs, testing::ValuesIn(zoo::shrunken));

TEST(MadeInputs, ClassesTokensAndBoxesAreInRange) {
  const graph::Graph gpt =
      zoo::training_graph(*zoo::make_network("gpt(layers=1, heads=1, width=4, context=50, vocabulary=11)"), 2);
  for (const char* name : {"x", "y"}) {
    float largest = 0;
    const Tensor tokens = made_input(gpt, name);
    for (const float t : tokens.span()) {
      EXPECT_EQ(t, std::floor(t));
      EXPECT_GE(t, 0);
      EXPECT_LT(t, 11);
      largest = std::max(largest, t);
    }
    EXPECT_GT(largest, 5) << name << ": not all the same";
  }
  const graph::Graph boxes = zoo::training_graph(
      *zoo::make_network("climate_detector(variant=b, height=320, width=320, channels=1, scale=0.03125)"), 1);
  const Tensor y = made_input(boxes, "y");
  int objects = 0;
  for (std::int64_t cell = 0; cell < y.count() / 10; ++cell) {
    const float* t = y.data() + cell * 10;
    EXPECT_EQ(t[4] + t[5], 1);
    EXPECT_EQ(t[6] + t[7] + t[8] + t[9], t[4]) << "one class where there is an object";
    objects += t[4] > 0;
  }
  EXPECT_GT(objects, 0);
  EXPECT_LT(objects, 50) << "of 100 cells";
}

}  // namespace
}  // namespace isobar::bench
