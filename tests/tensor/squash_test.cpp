#include "isobar/tensor/squash.hpp"

#include <gtest/gtest.h>

namespace isobar {
namespace {

TEST(Squash, FollowsFromTheLoss) {
  EXPECT_EQ(squash_of("softmax_cross_entropy"), Squash::softmax);
  EXPECT_EQ(squash_of("focal"), Squash::softmax);
  EXPECT_EQ(squash_of("nll"), Squash::exponential);
  EXPECT_EQ(squash_of("sigmoid_cross_entropy"), Squash::sigmoid);
  EXPECT_EQ(squash_of("mse"), Squash::none);
  EXPECT_EQ(squash_of(""), Squash::none);
}

}  // namespace
}  // namespace isobar
