// What parameter servers count, and how it is told.
#include "isobar/parallel/server_counts.hpp"

#include <gtest/gtest.h>

namespace isobar::parallel {
namespace {

AgeCounts counted(std::initializer_list<std::int64_t> ages) {
  AgeCounts counts;
  for (const std::int64_t age : ages) counts.add(age);
  return counts;
}

TEST(AgeCounts, HavePlacesThatGrowWithTheAge) {
  const AgeCounts counts = counted({0, 3, 3, 15, 16, 31, 32, 1'000'000'000'000});
  EXPECT_EQ(counts.updates(), 8);
  EXPECT_EQ(counts.most(), 1'000'000'000'000);
  EXPECT_EQ(counts.str(), "0: 1, 3: 2, 15: 1, 16-31: 2, 32-63: 1, 32768-65535: 1");
  EXPECT_EQ(AgeCounts::ages(16), std::pair(std::int64_t{16}, std::int64_t{31}));
  EXPECT_EQ(AgeCounts::ages(17), std::pair(std::int64_t{32}, std::int64_t{63}));
}

TEST(AgeCounts, AddUp) {
  AgeCounts counts = counted({1, 2});
  counts.add(counted({2, 7}));
  EXPECT_EQ(counts.str(), "1: 1, 2: 2, 7: 1");
  EXPECT_EQ(counts.mean(), 3);
}

TEST(ServingCounts, AreToldInALine) {
  ServingCounts counts;
  EXPECT_EQ(counts.summary({}), "");
  counts.workers = {{.ages = counted({0, 1}), .waited_seconds = 3},
                    {.ages = counted({2}), .waited_seconds = 1, .delayed_seconds = 4, .died = 1}};
  counts.servers = {{.busy_seconds = 1, .seconds = 10}};
  EXPECT_EQ(counts.summary(std::vector{0, 2}),
            "3 updates (rank 0: 2, rank 2: 1 until it died); gradients were 1.00 updates old on average, 2 at most; "
            "workers waited 4 s for each other, 100 % of it for rank 2; the server was busy 10 % of the time");
  counts.servers.push_back({.busy_seconds = 5, .seconds = 10});
  for (WorkerCounts& each : counts.workers) each.waited_seconds = 0;
  EXPECT_EQ(counts.strain(std::vector{0, 2}), "servers were busy 10 to 50 % of the time");
}

}  // namespace
}  // namespace isobar::parallel
