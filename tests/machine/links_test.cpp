#include "isobar/machine/links.hpp"

#include <gtest/gtest.h>

#include "isobar/comm/local_comm.hpp"

namespace isobar::machine {
namespace {

TEST(Links, EveryRankGetsTheCostOfEveryLink) {
  for (const int size : {1, 2, 3, 11}) {
    std::vector<Links> all(static_cast<std::size_t>(size));
    comm::run_ranks(size, [&](comm::Comm& comm) { all[static_cast<std::size_t>(comm.rank())] = measure_links(comm); });
    for (const Links& links : all) {
      EXPECT_EQ(links.latency_us, all[0].latency_us);
      EXPECT_EQ(links.mb_per_second, all[0].mb_per_second);
    }
    ASSERT_EQ(all[0].latency_us.size(), static_cast<std::size_t>(size - 1));
    ASSERT_EQ(all[0].mb_per_second.size(), static_cast<std::size_t>(size - 1));
    for (const double latency : all[0].latency_us) EXPECT_GT(latency, 0);
    for (const double speed : all[0].mb_per_second) EXPECT_GT(speed, 0);
  }
}

}  // namespace
}  // namespace isobar::machine
