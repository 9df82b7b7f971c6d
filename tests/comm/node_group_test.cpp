#include "isobar/comm/node_group.hpp"

#include <gtest/gtest.h>

#include "isobar/comm/collectives.hpp"
#include "isobar/comm/local_comm.hpp"
#include "isobar/comm/reducer.hpp"

namespace isobar::comm {
namespace {

// Nodes of 3, 3 and 2 ranks: two lanes; the third rank of a node owns nothing.
TEST(NodeGroup, HasAsManyLanesAsTheSmallestNodeHasRanks) {
  run_ranks(
      8,
      [](Comm& comm) {
        const auto memory = gradient_memory(comm, 100, {.algorithm = "hierarchical"});
        const NodeGroup node(comm, *memory);
        const int place = comm.rank() % 3;
        EXPECT_EQ(node.lanes(), 2);
        EXPECT_EQ(node.owns(), place < 2);
        EXPECT_EQ(node.between() != nullptr, node.owns());
        if (!node.owns()) return;
        EXPECT_EQ(node.between()->members(), (std::vector<int>{place, place + 3, place + 6}));
        EXPECT_EQ(node.slice({0, 100}), (place == 0 ? Range{0, 48} : Range{48, 52}));
      },
      3);
}

TEST(NodeGroup, GathersAndSpreadsSlices) {
  run_ranks(
      6,
      [](Comm& comm) {
        const auto memory = gradient_memory(comm, 100, {.algorithm = "hierarchical"});
        NodeGroup node(comm, *memory);
        const int first = comm.rank() / 3 * 3;
        for (float& x : memory->mine()) x = static_cast<float>(comm.rank());
        for (std::int64_t number = 0; number < 3; ++number) {
          barrier(comm);
          EXPECT_FALSE(node.all_started(number));
          EXPECT_EQ(node.missing(number), (std::vector<int>{first, first + 1, first + 2}));
          EXPECT_FALSE(node.all_spread(number));
          barrier(comm);
          node.started(number + 1);
          barrier(comm);
          EXPECT_TRUE(node.all_started(number));
          EXPECT_TRUE(node.missing(number).empty());
          barrier(comm);
        }
        const Range slice = node.slice({10, 80});
        node.gather(slice);
        node.spread(slice, 1);
        barrier(comm);
        EXPECT_TRUE(node.all_spread(1));
        EXPECT_FALSE(node.all_spread(0));
        for (std::size_t i = 0; i < 100; ++i)
          ASSERT_EQ(memory->mine()[i],
                    i >= 10 && i < 90 ? 3.0f * static_cast<float>(first + 1) : static_cast<float>(comm.rank()));
        EXPECT_EQ(node.traffic().bytes, static_cast<std::int64_t>(2 * 2 * slice.count * sizeof(float)));
        barrier(comm);
      },
      3);
}

}  // namespace
}  // namespace isobar::comm
