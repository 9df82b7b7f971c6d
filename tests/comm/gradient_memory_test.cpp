#include "isobar/comm/gradient_memory.hpp"

#include <gtest/gtest.h>

#include "isobar/comm/collectives.hpp"
#include "isobar/comm/local_comm.hpp"
#include "isobar/comm/reducer.hpp"

#include "tests/expect_error.hpp"

namespace isobar::comm {
namespace {

bool shared_on(const char* algorithm, int ranks, int per_node, const char* codec = "float") {
  Group group{.rank = 0, .size = ranks};
  for (int rank = 0; rank < ranks; ++rank) group.nodes.push_back(rank / per_node);
  return shares_memory(group, {.algorithm = algorithm, .codec = make(codec::codecs(), codec, "codec")});
}

TEST(GradientMemory, IsSharedWhereRanksAddFromIt) {
  EXPECT_TRUE(shared_on("auto", 4, 4));
  EXPECT_TRUE(shared_on("auto", 4, 4, "topk")) << "for exact sums";
  EXPECT_TRUE(shared_on("auto", 4, 2));
  EXPECT_TRUE(shared_on("hierarchical", 4, 1));
  EXPECT_FALSE(shared_on("auto", 1, 1));
  EXPECT_FALSE(shared_on("auto", 4, 1));
  EXPECT_FALSE(shared_on("auto", 4, 4, "bf16"));
  EXPECT_FALSE(shared_on("ring", 4, 4));
  EXPECT_FALSE(shared_on("native", 4, 4));
}

TEST(GradientMemory, BeginsOnACacheLineAndIsZero) {
  for (const int per_node : {1, 2, 4})
    run_ranks(
        4,
        [](Comm& comm) {
          for (const std::size_t floats : {0, 1, 1001}) {
            const auto memory = gradient_memory(comm, floats, {});
            ASSERT_EQ(memory->mine().size(), floats);
            EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory->mine().data()) % 64, 0u);
            for (const float x : memory->mine()) ASSERT_EQ(x, 0);
          }
        },
        per_node);
}

TEST(GradientMemory, OthersOfTheNodeSeeWhatIsWritten) {
  run_ranks(
      4,
      [](Comm& comm) {
        const auto memory = gradient_memory(comm, 5, {});
        ASSERT_EQ(memory->on_node().size(), 2u);
        std::ranges::fill(memory->mine(), static_cast<float>(comm.rank()));
        barrier(comm);
        for (int i = 0; i < 2; ++i)
          EXPECT_EQ(memory->on_node()[static_cast<std::size_t>(i)][4], static_cast<float>(comm.rank() / 2 * 2 + i));
        barrier(comm);
      },
      2);
}

// Loss and gradients, for instance, may be summed by reducers of their own.
TEST(GradientMemory, SeveralReducersSumInOne) {
  run_ranks(
      3,
      [](Comm& comm) {
        const auto memory = gradient_memory(comm, 2000, {});
        const auto first = make_reducer(comm, *memory, {}), second = make_reducer(comm, *memory, {});
        std::ranges::fill(memory->mine(), 1.0f);
        const Reducer::Sum a = first->start({{0, 1500}, 0, "many"}), b = second->start({{1500, 500}, 0, "few"});
        second->wait(b), first->wait(a);
        for (const float x : memory->mine()) ASSERT_EQ(x, 3);
      },
      3);
}

TEST(GradientMemory, OneThatIsNotSharedIsNoMemoryForSumsInIt) {
  EXPECT_THROW(run_ranks(
                   2,
                   [](Comm& comm) {
                     const auto memory = gradient_memory(comm, 10, {.algorithm = "ring"});
                     make_reducer(comm, *memory, {});
                   },
                   2),
               std::logic_error);
}

TEST(GradientMemory, MayBeSomebodyElses) {
  auto kept = std::make_shared<std::vector<float>>(3);
  const std::weak_ptr<std::vector<float>> watched = kept;
  {
    const GradientMemory memory(*kept, kept);
    kept.reset();
    EXPECT_EQ(memory.mine().data(), watched.lock()->data());
  }
  EXPECT_TRUE(watched.expired());
}

}  // namespace
}  // namespace isobar::comm
