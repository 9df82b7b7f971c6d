#include "isobar/train/target.hpp"

#include <gtest/gtest.h>

#include "tests/expect_error.hpp"

namespace isobar::train {
namespace {

TEST(Target, IsReachedFromItsSide) {
  const Target error = read_target("mae<=0.124"), accuracy = read_target(" accuracy >= 0.75 ");
  EXPECT_EQ(error.metric, "mae");
  EXPECT_TRUE(error.reached(0.124) && !error.reached(0.125));
  EXPECT_EQ(accuracy.metric, "accuracy");
  EXPECT_TRUE(accuracy.reached(0.75) && !accuracy.reached(0.74));
  EXPECT_EQ(error.str(), "mae<=0.124");
  EXPECT_EQ(accuracy.str(), "accuracy>=0.75");
}

TEST(Target, AnythingElseIsAnsweredWithAnExample) {
  for (const char* text : {"", "mae", "mae<0.1", "mae<=", "<=0.1", "mae<=x", "mae<=0.1x", "mae<=nan", "mae==1", "<"})
    EXPECT_HAS(isobar::tests::error_of([&] { read_target(text); }), "as mae<=0.124");
}

}  // namespace
}  // namespace isobar::train
