#include "isobar/comm/crew.hpp"

#include <gtest/gtest.h>

#include "isobar/comm/collectives.hpp"
#include "isobar/comm/local_comm.hpp"

#include "tests/expect_error.hpp"

namespace isobar::comm {
namespace {

TEST(FixedCrew, IsAllRanksOnce) {
  run_ranks(3, [](Comm& comm) {
    const auto crew = fixed_crew(comm);
    EXPECT_FALSE(crew->elastic());
    const auto group = crew->muster([](int available) { return available; });
    ASSERT_NE(group, nullptr);
    EXPECT_FALSE(group->elastic());
    EXPECT_EQ(group->members(), comm.members());
    EXPECT_EQ(all_gather_number(*group, comm.rank()), (std::vector<std::int64_t>{0, 1, 2}));
    EXPECT_EQ(crew->muster([](int available) { return available; }), nullptr);
  });
}

TEST(FixedCrew, ToGiveUpIsAFailure) {
  EXPECT_HAS(tests::error_of([] {
               run_ranks(2, [](Comm& comm) {
                 if (comm.rank() == 1) fixed_crew(comm)->give_up("lagged weights are lost");
                 barrier(comm);
               });
             }),
             "lagged weights are lost");
}

}  // namespace
}  // namespace isobar::comm
