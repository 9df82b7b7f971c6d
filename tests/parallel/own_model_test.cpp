// OwnModel: weights that step aside and come back.
#include "isobar/parallel/own_model.hpp"

#include <gtest/gtest.h>

#include "tests/parallel/plain_replica.hpp"

namespace isobar::parallel::trials {
namespace {

TEST(OwnModel, StepsAsideAndComesBack) {
  PlainReplica replica({{3}, {20, false}});
  std::ranges::fill(replica.weights(), 1.0f);
  OwnModel own;
  own.take_back(replica);
  EXPECT_EQ(replica[1].weight[19], 1) << "it was there";
  own.set_aside(replica);
  EXPECT_TRUE(own.is_aside());
  std::ranges::fill(replica.weights(), 2.0f);
  own.set_aside(replica);
  EXPECT_EQ(replica[0].weight[2], 2) << "what others judge by is not its own";
  own.take_back(replica);
  EXPECT_FALSE(own.is_aside());
  EXPECT_EQ(replica[0].weight[2], 1);
  EXPECT_EQ(replica[1].weight[19], 1);
}

TEST(OwnModel, IsSavedWhereItIs) {
  PlainReplica replica(std::vector<DeclaredPlainly>{{3}});
  OwnModel own;
  EXPECT_EQ(own.state(replica, false)[0].floats().data(), replica.weights().data());
  EXPECT_FALSE(own.state(replica, false)[0].in_use);
  replica.weights()[0] = 5;
  own.set_aside(replica);
  replica.weights()[0] = 6;
  const exec::StateBlock block = own.state(replica, false)[0];
  EXPECT_TRUE(block.in_use);
  EXPECT_EQ(block.floats()[0], 5);
}

}  // namespace
}  // namespace isobar::parallel::trials
