#include "isobar/checkpoint/good_states.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "tests/checkpoint/small_network.hpp"
#include "tests/temporary_folder.hpp"

namespace isobar::checkpoint {
namespace {

using namespace isobar::tests;

class GoodStateTest : public testing::Test {
 protected:
  GoodStateTest() : store_(graph::make_plan(small_network(2)), 1) {}

  void set(float value, std::int64_t step) {
    std::ranges::fill(store_.weight(0), value);
    std::ranges::fill(store_.slot(0, 0), -value);
    position_.step = step;
  }
  // The value that the states go back to now.
  float gone_back() {
    restore(states_.go_back(position_), store_, {});
    EXPECT_EQ(store_.slot(0, 0)[0], -store_.weight(0)[0]);
    return store_.weight(0)[0];
  }

  exec::ParamStore store_;
  Position position_;
  GoodStates states_{10};
};

TEST_F(GoodStateTest, ACopyCountsWhenGoodStepsHaveFollowedIt) {
  EXPECT_EQ(states_.bytes(), 0u);
  set(1, 0);
  states_.begin(store_, position_, {});
  EXPECT_GT(states_.bytes(), 0u);
  set(2, 9);
  EXPECT_FALSE(states_.due(position_));
  set(3, 10);
  ASSERT_TRUE(states_.due(position_));
  states_.renew(store_, position_, {});
  set(4, 15);
  EXPECT_EQ(gone_back(), 1);  // the copy of step 10 is not confirmed yet
  set(5, 25);
  ASSERT_TRUE(states_.due(position_));
  states_.renew(store_, position_, {});
  set(6, 35);
  states_.renew(store_, position_, {});
  set(7, 36);
  EXPECT_EQ(gone_back(), 5);
}

TEST_F(GoodStateTest, GoingBackDropsTheCopyThatWentAstray) {
  set(1, 0);
  states_.begin(store_, position_, {});
  set(2, 10);
  states_.renew(store_, position_, {});
  set(3, 12);
  EXPECT_EQ(gone_back(), 1);
  position_.step = 21;
  EXPECT_FALSE(states_.due(position_));  // due ten steps after the run went back
  position_.step = 22;
  ASSERT_TRUE(states_.due(position_));
  set(4, 22);
  states_.renew(store_, position_, {});
  EXPECT_EQ(gone_back(), 1);
  EXPECT_EQ(states_.go_back(position_).position.step, 0);
}

TEST_F(GoodStateTest, WhereARunIsResumedCountsAtOnce) {
  set(1, 0);
  states_.begin(store_, position_, {});
  set(2, 3);
  states_.begin(store_, position_, {});
  set(3, 4);
  EXPECT_EQ(gone_back(), 2);
}

}  // namespace
}  // namespace isobar::checkpoint
