#include "isobar/comm/gather_flight.hpp"

#include <thread>

#include <gtest/gtest.h>

#include "isobar/comm/local_comm.hpp"

#include "tests/comm/open_lengths.hpp"

namespace isobar::comm {
namespace {

using tests::open_length_pattern;

TEST(GatherFlight, BringsWhatEachRankHasToAll) {
  constexpr std::size_t bound = 1000;
  const auto length = [](std::size_t rank) { return rank == 1 ? 0 : rank == 2 ? bound : 7 * rank + 1; };
  for (const int size : {1, 2, 3, 6})
    run_ranks(size, [&](Comm& comm) {
      const auto ranks = static_cast<std::size_t>(size), self = static_cast<std::size_t>(comm.rank());
      for (const int tag : {1, 1, 2}) {  // the second with the same tag
        std::vector<std::byte> blocks(ranks * bound);
        std::vector<std::size_t> lengths(ranks);
        lengths[self] = length(self);
        std::ranges::copy(open_length_pattern(lengths[self], comm.rank()),
                          blocks.begin() + static_cast<std::ptrdiff_t>(self * bound));
        GatherFlight flight(comm, blocks, lengths, tag);
        while (!flight.advance()) std::this_thread::yield();
        EXPECT_TRUE(flight.advance()) << "again: nothing happens";
        for (std::size_t rank = 0; rank < ranks; ++rank) {
          ASSERT_EQ(lengths[rank], length(rank));
          const auto block = std::span(blocks).subspan(rank * bound, lengths[rank]);
          EXPECT_EQ(std::vector(block.begin(), block.end()),
                    open_length_pattern(lengths[rank], static_cast<int>(rank)));
        }
      }
      std::size_t passed_on = 0;  // what the left neighbour has itself is all it does not get
      for (std::size_t rank = 0; rank < ranks; ++rank)
        if (rank != (self + ranks - 1) % ranks) passed_on += length(rank);
      EXPECT_EQ(comm.traffic().bytes, static_cast<std::int64_t>(3 * (ranks > 1 ? passed_on : 0)));
    });
}

TEST(GatherFlight, OneThatIsDroppedLeavesNothingUnderWay) {
  run_ranks(2, [](Comm& comm) {
    std::vector<std::byte> blocks(20), byte(1);
    std::vector<std::size_t> lengths{3, 3};
    if (comm.rank() == 0) {
      GatherFlight flight(comm, blocks, lengths, 1);
      EXPECT_FALSE(flight.advance());
    }
    if (comm.rank() == 0) comm.send(1, 2, byte);
    else comm.receive(0, 2, byte);
    // Of what was begun nothing meets what comes now.
    if (comm.rank() == 0) comm.receive(1, 1, byte);
    else comm.send(0, 1, byte);
  });
}

}  // namespace
}  // namespace isobar::comm
