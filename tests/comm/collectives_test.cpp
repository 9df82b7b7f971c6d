#include "isobar/comm/collectives.hpp"

#include <atomic>
#include <latch>

#include <gtest/gtest.h>

#include "isobar/comm/local_comm.hpp"

namespace isobar::comm {
namespace {

Bytes pattern(std::size_t count, int seed) {
  Bytes bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i * 13 + static_cast<std::size_t>(seed));
  return bytes;
}

constexpr std::size_t counts[] = {0, 1, 7, 10'001};

TEST(Collectives, BroadcastReachesAllFromAnyRoot) {
  for (int size = 1; size <= 17; ++size)
    run_ranks(size, [&](Comm& comm) {
      for (const std::size_t count : counts)
        for (const int root : {0, size / 2, size - 1}) {
          Bytes bytes = comm.rank() == root ? pattern(count, root) : pattern(3, 99);
          broadcast(comm, bytes, root);
          EXPECT_EQ(bytes, pattern(count, root));
        }
    });
}

TEST(Collectives, AllGatherOfDifferentLengths) {
  for (int size = 1; size <= 17; ++size)
    run_ranks(size, [&](Comm& comm) {
      for (const std::size_t count : counts) {
        const auto length = [&](int rank) { return count * static_cast<std::size_t>(rank % 3); };
        const std::vector<Bytes> all = all_gather(comm, pattern(length(comm.rank()), comm.rank()));
        ASSERT_EQ(all.size(), static_cast<std::size_t>(size));
        for (int rank = 0; rank < size; ++rank)
          EXPECT_EQ(all[static_cast<std::size_t>(rank)], pattern(length(rank), rank));
      }
    });
}

TEST(Collectives, NumbersOfAllRanks) {
  for (int size = 1; size <= 17; ++size)
    run_ranks(size, [&](Comm& comm) {
      const auto numbers = all_gather_number(comm, comm.rank() * 10);
      for (int rank = 0; rank < size; ++rank) EXPECT_EQ(numbers[static_cast<std::size_t>(rank)], rank * 10);
    });
}

TEST(Collectives, NobodyLeavesABarrierBeforeAllHaveCome) {
  for (int size = 1; size <= 17; ++size) {
    std::atomic<int> came = 0;
    run_ranks(size, [&](Comm& comm) {
      for (int round = 1; round <= 5; ++round) {
        ++came;
        barrier(comm);
        EXPECT_GE(came, round * size);
      }
    });
  }
}

TEST(Collectives, ABarrierThatSomebodyMissesIsGivenUp) {
  for (int size = 1; size <= 9; ++size) {
    run_ranks(size, [&](Comm& comm) { EXPECT_TRUE(barrier_within(comm, 60)); });
    if (size == 1) continue;
    std::latch all_gave_up(size);  // nobody leaves before: waiting for who has left is another failure
    run_ranks(size, [&](Comm& comm) {
      const bool came = comm.rank() > 0 && barrier_within(comm, 0.05);
      EXPECT_FALSE(came) << "rank " << comm.rank() << " of " << size;
      all_gave_up.arrive_and_wait();
    });
  }
}

TEST(Collectives, TheLargestOfAll) {
  for (const int ranks : {1, 2, 3, 5})
    run_ranks(ranks, [&](Comm& comm) { EXPECT_EQ(all_largest(comm, -1.0 - comm.rank()), -1.0); });
}

}  // namespace
}  // namespace isobar::comm
