// Memory that ranks map from a file of the first rank, when a rank dies at any of its messages.
#include <gtest/gtest.h>

#include "isobar/comm/local_crew.hpp"
#include "isobar/comm_mpi/mapped_memory.hpp"

namespace isobar::comm_mpi {
namespace {

TEST(MappedMemoryDeaths, NobodyTakesADeathForAFailure) {
  for (const int victim : {0, 2}) {
    bool again = true;
    for (std::int64_t message = 0; again; ++message) {
      const auto all = [](int available) { return available; };
      const comm::CrewEnd end = comm::run_crew(
          3, 0,
          [&](comm::Crew& crew, int rank) {
            try {
              const auto group = crew.muster(all);
              for (;;) {
                map_memory(*group, 1000);
                if (rank == victim) again = false;
              }
            } catch (const comm::MembersChanged&) {
            }
            const auto group = crew.muster(all);
            const auto memory = map_memory(*group, 1000);
            EXPECT_EQ(memory->part(1 - group->rank())[999], std::byte{0});
          },
          {{.rank = victim, .message = message}}, 3);
      ASSERT_EQ(end.died, std::vector<int>{victim});
    }
  }
}

}  // namespace
}  // namespace isobar::comm_mpi
