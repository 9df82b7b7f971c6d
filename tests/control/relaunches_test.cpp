// Relaunches are counted, and wait longer and longer while they finish no step.
#include "isobar/control/relaunches.hpp"

#include <gtest/gtest.h>

namespace isobar::control {
namespace {

TEST(Relaunches, there_is_a_limit) {
  Relaunches relaunches(2);
  EXPECT_TRUE(relaunches.left());
  relaunches.next(-1);
  relaunches.next(-1);
  EXPECT_FALSE(relaunches.left());
  EXPECT_EQ(relaunches.used(), 2);
  EXPECT_FALSE(Relaunches(0).left());
}

TEST(Relaunches, those_in_vain_wait_twice_as_long_each_time) {
  Relaunches relaunches(100);
  EXPECT_EQ(relaunches.next(-1), 0.5);
  EXPECT_EQ(relaunches.next(-1), 1);
  EXPECT_EQ(relaunches.next(-1), 2);
  EXPECT_EQ(relaunches.next(10), 0.5) << "steps were finished meanwhile";
  EXPECT_EQ(relaunches.next(10), 1);
  for (int i = 0; i < 20; ++i) relaunches.next(10);
  EXPECT_EQ(relaunches.next(10), 60);
}

}  // namespace
}  // namespace isobar::control
