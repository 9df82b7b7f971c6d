#include "isobar/feeding/pinned_arena.hpp"

#include <algorithm>
#include <cstdint>
#include <sys/mman.h>

#include "isobar/feeding/loader.hpp"

#include "tests/datasets/samples.hpp"

namespace isobar::feeding {
namespace {

using namespace isobar::tests;

TEST(PinnedArena, PiecesBeginAtPagesAndDoNotMeet) {
  const std::vector<std::size_t> lengths = {1, 4096, 5000, 0, 3 << 20};
  const PinnedArena arena(lengths);
  EXPECT_EQ(arena.size(), 4096u + 4096 + 8192 + (3 << 20));
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(arena.piece(i)) % 4096, 0u);
    std::fill_n(arena.piece(i), lengths[i], static_cast<std::byte>(i + 1));
  }
  for (std::size_t i = 0; i < lengths.size(); ++i)
    EXPECT_EQ(std::count(arena.piece(i), arena.piece(i) + lengths[i], static_cast<std::byte>(i + 1)),
              static_cast<std::ptrdiff_t>(lengths[i]));
}

// Readers touch it first: until then none of its pages is in memory.
TEST(PinnedArena, IsNotTouchedWhenMade) {
  const PinnedArena arena({std::size_t{8} << 20});
  std::vector<unsigned char> resident(arena.size() / 4096);
  ASSERT_EQ(mincore(arena.piece(0), arena.size(), resident.data()), 0);
  EXPECT_EQ(std::ranges::count_if(resident, [](unsigned char page) { return page & 1; }), 0);
}

TEST(PinnedArena, MemoryThatCannotBeHadIsAnError) {
  EXPECT_HAS(error_of([] { PinnedArena({SIZE_MAX - 5}); }), "could not be allocated");
  EXPECT_HAS(error_of([] {
               PinnedArena({SIZE_MAX / 5, SIZE_MAX / 5, SIZE_MAX / 5, SIZE_MAX / 5, SIZE_MAX / 5});
             }),
             "could not be allocated");
  EXPECT_EQ(PinnedArena({}).size(), 0u);
}

// All batches of a loader are in one arena: fields of consecutive batches are at a fixed distance.
TEST(PinnedArena, HoldsTheBatchesOfALoader) {
  const auto noise = datasets::make_dataset("noise(shape=[3], targets=1, count=12)");
  Loader loader(*noise, {.count = 12, .batch = 2}, {.ahead = 2});
  std::vector<std::uintptr_t> places;
  for (int i = 0; i < 3; ++i) places.push_back(reinterpret_cast<std::uintptr_t>(loader.next()->fields[0].data()));
  EXPECT_EQ(places[1] - places[0], 8192u);  // a page for x, one for y
  EXPECT_EQ(places[2] - places[1], 8192u);
}

}  // namespace
}  // namespace isobar::feeding
