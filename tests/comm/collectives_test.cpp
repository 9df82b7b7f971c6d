#include "isobar/comm/collectives.hpp"

#include <algorithm>
#include <atomic>
#include <latch>
#include <string>
#include <thread>

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
    std::latch all_gave_up(size);  // no rank leaves before: waiting for a rank that has left is another failure
    run_ranks(size, [&](Comm& comm) {
      const bool came = comm.rank() > 0 && barrier_within(comm, 0.05);
      EXPECT_FALSE(came) << "rank " << comm.rank() << " of " << size;
      all_gave_up.arrive_and_wait();
    });
  }
}

TEST(Collectives, BroadcastsOfObjectsNumbersAndTexts) {
  for (const int size : {1, 2, 3, 7})
    run_ranks(size, [&](Comm& comm) {
      const int root = size - 1;
      std::vector<float> numbers(1000, static_cast<float>(comm.rank()) + 0.5f);
      broadcast(comm, std::as_writable_bytes(std::span(numbers)), root);
      EXPECT_EQ(numbers, std::vector<float>(1000, static_cast<float>(root) + 0.5f));
      double object = comm.rank() + 7;
      broadcast_object(comm, object, root);
      EXPECT_EQ(object, root + 7);
      std::string text(static_cast<std::size_t>(comm.rank()), 'a');
      broadcast(comm, text, root);
      EXPECT_EQ(text, std::string(static_cast<std::size_t>(root), 'a'));
      std::vector<double> list(static_cast<std::size_t>(comm.rank() + 1), comm.rank());
      broadcast(comm, list);
      EXPECT_EQ(list, std::vector<double>{0});
    });
}

TEST(Collectives, GathersInTheOrderOfRanksWhateverTheLengths) {
  run_ranks(4, [](Comm& comm) {
    const std::string mine(static_cast<std::size_t>(3 - comm.rank()), static_cast<char>('a' + comm.rank()));
    std::string all;
    std::vector<int> from;
    gather(comm, std::as_bytes(std::span(mine)), [&](int rank, std::span<const std::byte> theirs) {
      from.push_back(rank);
      all.append(reinterpret_cast<const char*>(theirs.data()), theirs.size());
    });
    EXPECT_EQ(all, comm.rank() == 0 ? "aaabbc" : "");
    EXPECT_EQ(from.size(), comm.rank() == 0 ? 4u : 0u);
  });
}

TEST(Collectives, EveryRankGetsItsPart) {
  for (const int size : {1, 2, 5})
    for (const std::size_t count : {0, 3})
      run_ranks(size, [&](Comm& comm) {
        const Bytes all = comm.rank() == 0 ? pattern(count * static_cast<std::size_t>(size), 1) : Bytes();
        Bytes mine(count);
        scatter(comm, all, mine);
        for (std::size_t i = 0; i < count; ++i)
          EXPECT_EQ(mine[i], static_cast<std::byte>((static_cast<std::size_t>(comm.rank()) * count + i) * 13 + 1));
      });
}

TEST(Collectives, SomeRanksGatherWithoutTheOthers) {
  run_ranks(5, [](Comm& comm) {
    const int some[] = {4, 0, 3};
    if (std::ranges::find(some, comm.rank()) == std::end(some)) return;
    const Bytes mine = pattern(7, comm.rank());
    EXPECT_EQ(all_gather_among(comm, some, mine), (std::vector{pattern(7, 4), pattern(7, 0), pattern(7, 3)}));
  });
}

TEST(Collectives, SumsOverAnyNumberOfRanks) {
  for (int size = 1; size <= 9; ++size)
    run_ranks(size, [&](Comm& comm) {
      std::int64_t numbers[] = {comm.rank() + 1, std::int64_t{1} << 40};
      for (int i = 0; i < 2; ++i) sum_over_ranks(comm, numbers);  // twice: nothing is left over from the first
      const std::int64_t sum = size * (size + 1) / 2;
      EXPECT_EQ(numbers[0], sum * size);
      EXPECT_EQ(numbers[1], (std::int64_t{1} << 40) * size * size);
      const Traffic before = comm.traffic();
      sum_over_ranks(comm, {});
      EXPECT_EQ(comm.traffic().messages, before.messages);
    });
}

TEST(Collectives, WhoWaitsLooks) {
  std::atomic<int> looks = 0;
  run_ranks(2, [&](Comm& comm) {
    if (comm.rank() == 1)
      while (looks < 2) std::this_thread::yield();
    barrier(comm, [&] { ++looks; });
  });
  EXPECT_GE(looks, 2);
}

TEST(Collectives, TheLargestOfAll) {
  for (const int ranks : {1, 2, 3, 5})
    run_ranks(ranks, [&](Comm& comm) { EXPECT_EQ(all_largest(comm, -1.0 - comm.rank()), -1.0); });
}

}  // namespace
}  // namespace isobar::comm
