#include "isobar/hdf5/chunk_cache.hpp"

#include <gtest/gtest.h>

namespace isobar::hdf5 {
namespace {

TEST(ChunkCache, KeepsWhatWasUsedLast) {
  ChunkCache cache;
  constexpr std::size_t third = ChunkCache::usual / 3;
  for (std::int64_t chunk = 0; chunk < 3; ++chunk)
    cache.make_room(1, chunk, third)[0] = static_cast<std::byte>(10 + chunk);
  ASSERT_FALSE(cache.find(1, 0).empty());
  EXPECT_EQ(cache.find(1, 0)[0], std::byte{10});
  cache.make_room(1, 3, third);  // replaces 1, which was not used
  EXPECT_TRUE(cache.find(1, 1).empty());
  EXPECT_EQ(cache.find(1, 0)[0], std::byte{10});
  EXPECT_EQ(cache.find(1, 2)[0], std::byte{12});
  EXPECT_TRUE(cache.find(2, 2).empty()) << "of another array";
}

TEST(ChunkCache, ABigChunkIsAlone) {
  ChunkCache cache;
  cache.make_room(1, 0, 100);
  EXPECT_EQ(cache.make_room(1, 1, ChunkCache::usual + 1).size(), ChunkCache::usual + 1);
  EXPECT_TRUE(cache.find(1, 0).empty());
  cache.make_room(1, 2, 100);
  EXPECT_TRUE(cache.find(1, 1).empty());
  EXPECT_THROW(cache.make_room(1, 3, ChunkCache::largest + 1), std::logic_error);
}

TEST(ChunkCache, ManySmallOnesAndForgetting) {
  ChunkCache cache;
  for (std::int64_t chunk = 0; chunk <= static_cast<std::int64_t>(ChunkCache::most_chunks); ++chunk)
    cache.make_room(1, chunk, 8);
  EXPECT_TRUE(cache.find(1, 0).empty());
  EXPECT_FALSE(cache.find(1, 1).empty());
  cache.make_room(1, 1000, 8);
  cache.forget();
  EXPECT_TRUE(cache.find(1, 1000).empty());
  EXPECT_NE(ChunkCache::new_array(), ChunkCache::new_array());
}

}  // namespace
}  // namespace isobar::hdf5
