#include "isobar/parallel/buckets.hpp"

#include <gtest/gtest.h>

#include "tests/parallel/plain_replica.hpp"

namespace isobar::parallel::trials {
namespace {

using comm::Range;

TEST(Buckets, AreCutWithTheParameterThatFillsThem) {
  PlainReplica replica({{10}, {20}, {100}, {1}, {3}});
  Buckets buckets(replica.places(), replica.gradients().size(), 40);
  ASSERT_EQ(buckets.count(), 3);
  EXPECT_EQ(buckets[0].range, (Range{0, 48}));
  EXPECT_EQ(buckets[1].range, (Range{48, 112}));
  EXPECT_EQ(buckets[2].range, (Range{160, 32}));
  EXPECT_EQ(buckets[2].first, 3);
  EXPECT_EQ(buckets[2].last, 5);
  EXPECT_TRUE(buckets.untrained().empty());
}

TEST(Buckets, OfNoLengthHoldOneParameterEach) {
  PlainReplica replica({{10}, {20}, {1}});
  EXPECT_EQ(Buckets(replica.places(), replica.gradients().size(), 0).count(), 3);
}

TEST(Buckets, LeaveOutWhatIsNotTrained) {
  PlainReplica replica({{16}, {8, false}, {5, false}, {16}, {16}, {7, false}});
  Buckets buckets(replica.places(), replica.gradients().size(), 1000);
  ASSERT_EQ(buckets.count(), 2);
  EXPECT_EQ(buckets[0].range, (Range{0, 16}));
  EXPECT_EQ(buckets[1].range, (Range{48, 32}));
  EXPECT_EQ(buckets.untrained(), (std::vector<Range>{{16, 32}, {80, 16}}));
}

TEST(Buckets, AreDueWhenTheirLastGradientIsFinal) {
  PlainReplica replica({{16}, {16}, {16}, {16, false}, {16}});
  Buckets buckets(replica.places(), replica.gradients().size(), 32);  // 0 and 1, 2, 4
  for (int pass = 0; pass < 2; ++pass) {
    buckets.begin();
    EXPECT_EQ(buckets.final(1), -1);
    EXPECT_EQ(buckets.final(2), 1);
    EXPECT_EQ(buckets.final(3), -1);
    EXPECT_EQ(buckets.final(0), 0);
    EXPECT_EQ(buckets.rest(), (std::vector<int>{2}));
    EXPECT_TRUE(buckets.rest().empty());
  }
}

}  // namespace
}  // namespace isobar::parallel::trials
